import { type Tool } from "@assent/core";
import { type PathScope } from "@assent/policy";
import type { Reads } from "./reads.ts";
/** What the read tool needs: where the session works, and the memory it shares with the tools that replace files. */
export type ReadDeps = {
  readonly workspace: string;
  readonly scope: PathScope;
  readonly reads: Reads;
};
/** Reads a file. Inside the workspace, and for the session's own output, without asking; sensitive files and everything elsewhere ask. */
export declare function readTool(deps: ReadDeps): Tool;
