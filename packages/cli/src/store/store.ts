import type { Ledger } from "@assent/core";

export type Store = { readonly ledger: Ledger; readonly directory: string };
