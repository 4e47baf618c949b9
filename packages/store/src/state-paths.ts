import { join, resolve } from "node:path";

/** Where a store keeps what. */
export type StatePaths = { readonly directory: string; readonly file: string; readonly output: string; readonly torn: string };

/** The places of a store in its directory. */
export function statePaths(directory: string): StatePaths {
  const root = resolve(directory);
  return { directory: root, file: join(root, "ledger.db"), output: join(root, "output"), torn: join(root, "torn") };
}

/** A mode as people write it. */
export function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}
