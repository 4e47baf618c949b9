import { join, resolve } from "node:path";

export type StatePaths = {
  readonly directory: string;
  readonly file: string;
  /** Reveals a missing or replaced ledger. */
  readonly idFile: string;
  readonly output: string;
  readonly torn: string;
  /** Events that must be in the ledger. */
  readonly marks: string;
  /** One empty file for each session that had an effect. */
  readonly locks: string;
};

export function statePaths(directory: string): StatePaths {
  const root = resolve(directory);
  const at = (name: string): string => join(root, name);
  const [idFile, output, torn, marks, locks] = [at("ledger.id"), at("output"), at("torn"), at("marks"), at("locks")];
  return { directory: root, file: at("ledger.db"), idFile, output, torn, marks, locks };
}

export function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}
