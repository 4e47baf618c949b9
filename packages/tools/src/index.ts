export { agentTool, type OfferedAgent } from "./agent.ts";
export { ajvSchemas } from "./ajv-schemas.ts";
export { askTool } from "./ask.ts";
export { type AstEditDeps, astEditTool } from "./ast/ast-edit.ts";
export { type AstGrepDeps, astGrepTool } from "./ast/ast-grep.ts";
export { type BuiltinDeps, builtinTools } from "./builtin-tools.ts";
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
export { type CustomToolOptions, type LoadedTools, loadCustomTools } from "./custom/load-custom-tools.ts";
export { type ReloadedTools, reloadCustomTools } from "./custom/reload-custom-tools.ts";
export type { ApiPorts } from "./custom/thread-services.ts";
export { type FailureType, failureText, type ToolFailure } from "./custom/tool-failure.ts";
export { type EditDeps, editTool } from "./edit.ts";
export { enterPlanModeTool } from "./enter-plan-mode.ts";
export { type FetchDeps, fetchTool } from "./fetch.ts";
export { array, boolean, type Field, type InputOf, integer, object, oneOf, optional, record, string } from "./fields.ts";
export { type GlobDeps, globTool } from "./glob.ts";
export { type ListDeps, listTool } from "./list.ts";
export { type ReadDeps, readTool } from "./read.ts";
export { memoryReads, type ReadRecord, type Reads } from "./reads.ts";
export { resolveTool } from "./resolve.ts";
export { scheduleCreateTool, scheduleDeleteTool, scheduleListTool } from "./schedules.ts";
export { type SearchDeps, searchTool } from "./search.ts";
export { type RangeChange, sequenceChanges } from "./sequence-changes.ts";
export { type ShellDeps, shellTool } from "./shell.ts";
export { taskListTool, taskOutputTool, taskSendTool, taskStopTool } from "./tasks.ts";
export { todoTool } from "./todo.ts";
export { diffStat, type Sides, unifiedDiff } from "./unified-diff.ts";
export { type WriteDeps, writeTool } from "./write.ts";
