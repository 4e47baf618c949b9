import type { DiffStat } from "@assent/core";
/** The two sides of a change to one file. */
export type Sides = {
  /** How the file is named in the diff. */
  readonly name: string;
  /** Null: there was no file. */
  readonly before: string | null;
  readonly after: string;
};
/** The change as a unified diff; empty when there is none. */
export declare function unifiedDiff({ name, before, after }: Sides): string;
/** What the change adds and removes; characters are those of the changed lines, without their line breaks. */
export declare function diffStat(original: string | null, proposed: string, final?: string): DiffStat;
