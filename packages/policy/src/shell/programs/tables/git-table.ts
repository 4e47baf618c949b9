import type { Modelled } from "../command-table.ts";
import type { OptionReading, OptionTable } from "../read-options.ts";

/** A sub-command of git. */
export type GitTable = OptionTable & {
  readonly class?: "write";
  /**
   * `revisions`: what is written before `--` is a file only where such a file exists; `pattern`: the same, after a first word that is data unless an option gave it;
   * `files`: all of them; `data`, `none`: no files.
   */
  readonly operands: "revisions" | "pattern" | "files" | "data" | "none";
  readonly patternOptions?: readonly string[];
  readonly refine?: (reading: OptionReading, plain: Modelled) => Modelled;
};
