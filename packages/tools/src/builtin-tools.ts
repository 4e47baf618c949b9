import type { Tool } from "@assent/core";
import { createPathLookup, type PathLookup, type SessionDirectories } from "@assent/policy";
import { AGENT, agentTool, type OfferedAgent } from "./builtin/agent.ts";
import { ASK, askTool } from "./builtin/ask.ts";
import { AST_EDIT, astEditTool } from "./builtin/ast-edit.ts";
import { AST_GREP, astGrepTool } from "./builtin/ast-grep.ts";
import { EDIT, editTool } from "./builtin/edit.ts";
import { ENTER_PLAN_MODE, enterPlanModeTool } from "./builtin/enter-plan-mode.ts";
import { FETCH, fetchTool } from "./builtin/fetch.ts";
import { GLOB, globTool } from "./builtin/glob.ts";
import { LIST, listTool } from "./builtin/list.ts";
import { READ, readTool } from "./builtin/read.ts";
import { RESOLVE, resolveTool } from "./builtin/resolve.ts";
import {
  SCHEDULE_CREATE,
  SCHEDULE_DELETE,
  SCHEDULE_LIST,
  scheduleCreateTool,
  scheduleDeleteTool,
  scheduleListTool,
} from "./builtin/schedules.ts";
import { SEARCH, searchTool } from "./builtin/search.ts";
import { SHELL, type ShellDeps, shellTool } from "./builtin/shell.ts";
import { TASK_LIST, TASK_OUTPUT, TASK_SEND, TASK_STOP, taskListTool, taskOutputTool, taskSendTool, taskStopTool } from "./builtin/tasks.ts";
import { TODO, todoTool } from "./builtin/todo.ts";
import { WRITE, writeTool } from "./builtin/write.ts";
import type { Hides } from "./files/hidden-files.ts";
import { memoryReads, type Reads } from "./files/reads.ts";
import type { ToolListing } from "./tool-listing.ts";

/** What the built-in tools of a session need. Making tools opens and starts nothing. */
export type BuiltinDeps = SessionDirectories &
  ShellDeps & {
    /** How paths are looked up; by the given directories if absent. */
    readonly scope?: PathLookup;
    /** The settings `astEdit.maxFiles` and `astEdit.maxChanges`. */
    readonly maxFiles?: () => number;
    readonly maxChanges?: () => number;
    /** True if a rule allows this URL although its host is private. */
    readonly privateAllowed?: (url: string) => boolean;
    /** True if a rule forbids reading a file, so no tool shows it. */
    readonly hides?: Hides;
    /** What the session has read; starts empty if absent. */
    readonly reads?: Reads;
    readonly agents?: readonly OfferedAgent[];
  };

type ToolParts = BuiltinDeps & Required<Pick<BuiltinDeps, "scope" | "reads" | "maxFiles" | "maxChanges">>;

/** Every built-in tool, in the order in which models see them. To add one, add its line here. */
const BUILTIN: readonly (readonly [listing: ToolListing, make: (parts: ToolParts) => Tool])[] = [
  [READ, readTool],
  [EDIT, editTool],
  [WRITE, writeTool],
  [SEARCH, searchTool],
  [GLOB, globTool],
  [LIST, listTool],
  [AST_GREP, astGrepTool],
  [AST_EDIT, astEditTool],
  [SHELL, shellTool],
  [FETCH, fetchTool],
  [TODO, todoTool],
  [AGENT, ({ agents }) => agentTool(agents)],
  [TASK_LIST, taskListTool],
  [TASK_OUTPUT, taskOutputTool],
  [TASK_STOP, taskStopTool],
  [TASK_SEND, taskSendTool],
  [SCHEDULE_CREATE, scheduleCreateTool],
  [SCHEDULE_LIST, scheduleListTool],
  [SCHEDULE_DELETE, scheduleDeleteTool],
  [ASK, askTool],
  [ENTER_PLAN_MODE, enterPlanModeTool],
  [RESOLVE, resolveTool],
];

/** What each built-in tool says about itself, in the order in which models see them. */
export const TOOL_LISTINGS: readonly ToolListing[] = BUILTIN.map(([listing]) => listing);

/** Makes the built-in tools of a session. */
export function builtinTools(deps: BuiltinDeps): readonly Tool[] {
  const parts: ToolParts = {
    ...deps,
    scope: deps.scope ?? createPathLookup(deps),
    reads: deps.reads ?? memoryReads(),
    maxFiles: deps.maxFiles ?? (() => 10_000),
    maxChanges: deps.maxChanges ?? (() => 50_000),
  };
  return BUILTIN.map(([, make]) => make(parts));
}
