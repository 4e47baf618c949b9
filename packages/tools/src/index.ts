export { agentTool, type OfferedAgent } from "./builtin/agent.ts";
export { askTool } from "./builtin/ask.ts";
export { type AstEditDeps, astEditTool } from "./builtin/ast-edit.ts";
export { type AstGrepDeps, astGrepTool } from "./builtin/ast-grep.ts";
export { type EditDeps, editTool } from "./builtin/edit.ts";
export { enterPlanModeTool } from "./builtin/enter-plan-mode.ts";
export { type FetchDeps, fetchTool } from "./builtin/fetch.ts";
export { type GlobDeps, globTool } from "./builtin/glob.ts";
export { type ListDeps, listTool } from "./builtin/list.ts";
export { type ReadDeps, readTool } from "./builtin/read.ts";
export { resolveTool } from "./builtin/resolve.ts";
export { scheduleCreateTool, scheduleDeleteTool, scheduleListTool } from "./builtin/schedules.ts";
export { type SearchDeps, searchTool } from "./builtin/search.ts";
export { type ShellDeps, shellTool } from "./builtin/shell.ts";
export { taskListTool, taskOutputTool, taskSendTool, taskStopTool } from "./builtin/tasks.ts";
export { todoTool } from "./builtin/todo.ts";
export { type WriteDeps, writeTool } from "./builtin/write.ts";
export { type BuiltinDeps, builtinTools, TOOL_LISTINGS } from "./builtin-tools.ts";
export type { AdaptedTool, Renderers } from "./custom/adapt-tool.ts";
export type {
  CustomApplied,
  CustomChange,
  CustomPreview,
  CustomResult,
  CustomTool,
  CustomToolApi,
  CustomToolContext,
  CustomToolFactory,
  CustomToolUi,
  ExecOptions,
  ExecResult,
  LogLevel,
  OnUpdate,
  Params,
  PushPendingAction,
} from "./custom/custom-tool.ts";
export type { ToolFolder, ToolSource } from "./custom/discover.ts";
export {
  type CustomToolOptions,
  type LoadedTools,
  loadCustomTools,
  type ReloadedTools,
  reloadCustomTools,
} from "./custom/load-custom-tools.ts";
export type { ApiPorts } from "./custom/thread-services.ts";
export { type FailureType, failureText, type ToolFailure } from "./custom/tool-failure.ts";
export { memoryReads, type ReadRecord, type Reads } from "./files/reads.ts";
export { array, boolean, type Field, type InputOf, integer, object, oneOf, optional, record, string } from "./schema/fields.ts";
export { createShellContainment, type ShellContainment, type ShellContainmentOptions } from "./shell/containment.ts";
export type { ToolListing } from "./tool-listing.ts";
