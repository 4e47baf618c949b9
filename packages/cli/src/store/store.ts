import type { Ledger } from "@assent/core";

/** An opened record, and the directory of its local files. */
export type Store = { readonly ledger: Ledger; readonly directory: string };
