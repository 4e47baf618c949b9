import { type Files, type Tool } from "@assent/core";
import { type PathScope } from "@assent/policy";
import type { Reads } from "./reads.ts";
/** What the write tool needs: where the session works, who replaces files, and what the session has read. */
export type WriteDeps = {
  readonly workspace: string;
  readonly scope: PathScope;
  readonly files: Files;
  readonly reads: Reads;
};
/**
 * Creates or replaces a whole file. An existing one must have been read in this session and be unchanged since. It asks, wherever the file is; what a person
 * approved it does, if the path still leads where it led when the call was judged.
 */
export declare function writeTool(deps: WriteDeps): Tool;
