import type { FileState } from "./model/proposal/events.ts";
import type { Maybe } from "./tool-definition.ts";

/** A file's content at one end of a change. `digest` is `sha256:<hex>` of the raw bytes, which are fetched when they are needed. */
export type FileImage = { readonly digest: string; readonly bytes: () => Maybe<Uint8Array> };

/** One file of a set; null: it is not there at that end. The path is a real one: a link on the way to it means that the file changed. */
export type FileChange = {
  readonly path: string;
  /** The path as it was written; where it leads elsewhere by now, the file counts as changed. */
  readonly via?: string;
  readonly before: FileImage | null;
  readonly after: FileImage | null;
  /** Permission bits of a file that is made; one that is replaced keeps its own. */
  readonly mode: number | null;
};

/** Files that change together or not at all. The id names the temporary files, so that a later process finds them. */
export type ChangeSet = { readonly id: string; readonly changes: readonly FileChange[] };

/** How an apply ended. In all states but `changed` and `unknown` every file is as it was, and no temporary file is left. */
export type ChangeEnd =
  | { readonly state: "changed" }
  /** Files that are not what `before` says, or no longer regular files reached without links. Nothing was written. */
  | { readonly state: "stale"; readonly files: readonly string[] }
  | { readonly state: "failed"; readonly code: string | undefined; readonly message: string; readonly restored: number }
  | { readonly state: "cancelled" }
  | { readonly state: "unknown"; readonly message: string; readonly files: readonly FileState[] };

/** What a set looks like that an earlier process left in the middle. Temporary files are gone, and files that had been replaced are restored. */
export type RecoveredChange =
  | { readonly state: "before"; readonly restored: number }
  | { readonly state: "after" }
  | { readonly state: "unknown"; readonly message: string; readonly files: readonly FileState[] };

/** Changes files as one. Nothing else in the project does. */
export interface FileChanges {
  /**
   * Verifies every `before` first, writes every `after` to a temporary file beside its target and syncs it, and only then replaces, in the order of the paths,
   * deletions last. The signal is heard up to the commit point, which `committing` marks (called once and awaited, before the first rename; if it throws, nothing is written); a failure after it
   * restores what was replaced. Never rejects for what files do; rejects with what `bytes` threw before anything was written.
   */
  apply(set: ChangeSet, options: { readonly signal: AbortSignal; readonly committing?: () => Maybe<void> }): Promise<ChangeEnd>;
  /** Looks at what a killed apply left: all at `before`, all at `after`, or a mixture, which is brought back to `before`; any file at neither: nothing is touched. */
  recover(set: ChangeSet): Promise<RecoveredChange>;
}

/** The files of plan mode. Every path is absolute. */
export interface PlanFiles {
  /**
   * The whole plan; undefined where there is none. Rejects with a `ToolError` for what is no plan: another real path than the one given, no regular file, a file with
   * other names, more than 256 KiB, not UTF-8.
   */
  read(path: string): Promise<string | undefined>;
  /** Whether anything has this name, a link that leads nowhere too. */
  isTaken(path: string): Promise<boolean>;
  /** Gives the plan its lasting name in the same directory. False: something has that name already, and nothing was changed. */
  keepAs(from: string, to: string): Promise<boolean>;
}
