import type { Guard } from "@assent/core";
/** Where Assent's own files are, besides `.assent` directories. */
export type OwnFiles = {
  /** Ledger, trust, outputs. No tool may touch it, except to read the session's own output. */
  readonly stateDirectory: string;
  /** The user's and the team's settings. */
  readonly settingsFiles: readonly string[];
};
/**
 * Closes Assent's own files to tools, in every mode and by either spelling of a path; a writing call whose path cannot be resolved asks, since nobody can rule such a file out.
 * A shell line is denied when it spells out the state directory. That is a guard-rail, not a proof: it will be read properly by the analysis of shell lines.
 */
export declare function ownFilesGuards({ stateDirectory, settingsFiles }: OwnFiles): readonly Guard[];
