import type { FileState } from "./model/proposal/events.ts";
import type { Maybe } from "./tool-definition.ts";

/**
 * What is at a path before or after a change. `digest` is `sha256:<hex>` of a file's raw bytes, which are loaded on demand,
 * `link:<target>` for a symbolic link, or `directory`.
 */
export type FileImage = {
  readonly digest: string;
  readonly bytes: () => Maybe<Uint8Array>;
  /** Permission bits, if they are part of the change; other bits count as a change. */
  readonly mode?: number;
};

/** One file of a set; null means absent. The path must be real: a link on the way counts as a change. */
export type FileChange = {
  readonly path: string;
  /** The path as written; if it leads elsewhere now, the file counts as changed. */
  readonly via?: string;
  readonly before: FileImage | null;
  readonly after: FileImage | null;
  /** Permission bits of a new file; a replaced file keeps its own. */
  readonly mode: number | null;
};

/** Files that change together or not at all; the id names the temporary files, so that a later process finds them. */
export type ChangeSet = { readonly id: string; readonly changes: readonly FileChange[] };

/** How an apply ended. Except for `changed` and `unknown`, every file is unchanged and no temporary file remains. */
export type ChangeEnd =
  | { readonly state: "changed" }
  /** Files that differ from `before` or are not regular files reached without links; nothing was written. */
  | { readonly state: "stale"; readonly files: readonly string[] }
  | { readonly state: "failed"; readonly code: string | undefined; readonly message: string; readonly restored: number }
  | { readonly state: "cancelled" }
  | { readonly state: "unknown"; readonly message: string; readonly files: readonly FileState[] };

/** The state of a set that an earlier process left incomplete, after temporary files were removed and replaced files restored. */
export type RecoveredChange =
  | { readonly state: "before"; readonly restored: number }
  | { readonly state: "after" }
  | { readonly state: "unknown"; readonly message: string; readonly files: readonly FileState[] };

/** Changes files as one unit; nothing else in the project does. */
export interface FileChanges {
  /**
   * Verifies every `before`, writes and syncs every `after` to a temporary file beside its target, then replaces them
   * in path order, git's pointers and then deletions last. `committing` is awaited once before the first rename: if it throws nothing is
   * written, and after it the signal is ignored. A later failure restores what was replaced. Rejects only with what
   * `bytes` threw before anything was written.
   */
  apply(set: ChangeSet, options: { readonly signal: AbortSignal; readonly committing?: () => Maybe<void> }): Promise<ChangeEnd>;
  /**
   * Inspects what a killed apply left. A mixture of `before` and `after` is restored to `before`; if any file matches
   * neither, nothing is touched.
   */
  recover(set: ChangeSet): Promise<RecoveredChange>;
}

/** The files of plan mode; every path is absolute. */
export interface PlanFiles {
  /**
   * The whole plan, or undefined if there is none. Rejects with a `ToolError` for another real path, a file that is not
   * regular or has several names, more than 256 KiB, or text that is not UTF-8.
   */
  read(path: string): Promise<string | undefined>;
  /** True if the name exists, even as a dangling link. */
  isTaken(path: string): Promise<boolean>;
  /** Gives the plan its lasting name in the same directory; false if the name is taken, and then nothing changes. */
  keepAs(from: string, to: string): Promise<boolean>;
}
