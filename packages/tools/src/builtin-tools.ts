import type { BackgroundCommands, Files, Processes, Tool } from "@assent/core";
import { type PathScope, pathScope, type SessionDirectories } from "@assent/policy";
import { agentTool, type OfferedAgent } from "./builtin/agent.ts";
import { askTool } from "./builtin/ask.ts";
import { astEditTool } from "./builtin/ast-edit.ts";
import { astGrepTool } from "./builtin/ast-grep.ts";
import { editTool } from "./builtin/edit.ts";
import { enterPlanModeTool } from "./builtin/enter-plan-mode.ts";
import { fetchTool } from "./builtin/fetch.ts";
import { globTool } from "./builtin/glob.ts";
import { listTool } from "./builtin/list.ts";
import { readTool } from "./builtin/read.ts";
import { resolveTool } from "./builtin/resolve.ts";
import { scheduleCreateTool, scheduleDeleteTool, scheduleListTool } from "./builtin/schedules.ts";
import { searchTool } from "./builtin/search.ts";
import { shellTool } from "./builtin/shell.ts";
import { taskListTool, taskOutputTool, taskSendTool, taskStopTool } from "./builtin/tasks.ts";
import { todoTool } from "./builtin/todo.ts";
import { writeTool } from "./builtin/write.ts";
import type { Hides } from "./files/hidden-files.ts";
import { memoryReads, type Reads } from "./files/reads.ts";

/** What the built-in tools of one session need. Nothing is opened or started by making them. */
export type BuiltinDeps = SessionDirectories & {
  /** How paths are looked at, where that follows settings; absent: by the directories as they are given. */
  readonly scope?: PathScope;
  readonly files: Files;
  readonly processes: Processes;
  /** The environment commands start from, without secrets of any known name. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Name globs of further secret variables, from the user and the team; the project's list cannot hide variables that steer programs. */
  readonly secretEnv?: () => readonly string[];
  readonly projectSecretEnv?: () => readonly string[];
  /** Names of variables that commands get though nobody looked at them. */
  readonly shellEnv?: () => readonly string[];
  /** Directories in which their programs are looked up; the system's when empty. */
  readonly shellPath?: () => readonly string[];
  /** The settings `astEdit.maxFiles` and `astEdit.maxChanges`. */
  readonly maxFiles?: () => number;
  readonly maxChanges?: () => number;
  /** Whether a rule names this host of the own network; absent: none does. */
  readonly privateAllowed?: (url: string) => boolean;
  /** Whether a rule forbids to read a file: then no tool shows it. Absent: none does. */
  readonly hides?: Hides;
  /** What the session has read before; a new, empty memory when absent. */
  readonly reads?: Reads;
  /** Keeps commands that go on behind their calls; absent: none can. */
  readonly background?: BackgroundCommands;
  /** The agents that can be started by name. */
  readonly agents?: readonly OfferedAgent[];
};

/** The built-in tools, in the order in which they are offered. */
export function builtinTools(deps: BuiltinDeps): readonly Tool[] {
  const reads = deps.reads ?? memoryReads();
  const shared = { workspace: deps.workspace, scope: deps.scope ?? pathScope(deps), reads, ...(deps.hides && { hides: deps.hides }) };
  const { maxFiles = () => 10_000, maxChanges = () => 50_000 } = deps;
  return [
    readTool(shared),
    editTool(shared),
    writeTool(shared),
    searchTool({ ...deps, ...shared }),
    globTool(shared),
    listTool(shared),
    astGrepTool({ ...shared, maxFiles }),
    astEditTool({ ...shared, maxFiles, maxChanges }),
    shellTool(deps),
    fetchTool({ files: deps.files, ...(deps.privateAllowed && { privateAllowed: deps.privateAllowed }) }),
    todoTool(),
    agentTool(deps.agents),
    taskListTool(),
    taskOutputTool(),
    taskStopTool(),
    taskSendTool(),
    scheduleCreateTool(),
    scheduleListTool(),
    scheduleDeleteTool(),
    askTool(),
    enterPlanModeTool(),
    resolveTool(),
  ];
}
