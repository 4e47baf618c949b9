import type { Theme } from "./theme.ts";

/** A key press such as `enter`, `ctrl+c` or `a`, or a pasted text. `alone`: no other key came shortly before, so it is not part of a word. */
export type Key = { readonly name: string; readonly alone?: true } | { readonly pasted: string };

export type Size = { readonly columns: number; readonly rows: number };

export type Canvas = Size & { readonly theme: Theme };
