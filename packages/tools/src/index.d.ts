export { ajvSchemas } from "./ajv-schemas.ts";
export { type BuiltinDeps, builtinTools } from "./builtin-tools.ts";
export { boolean, type Field, type InputOf, integer, object, optional, string } from "./fields.ts";
export { type ReadDeps, readTool } from "./read.ts";
export { memoryReads, type ReadRecord, type Reads } from "./reads.ts";
export { type ShellDeps, shellTool } from "./shell.ts";
export { diffStat, type Sides, unifiedDiff } from "./unified-diff.ts";
export { type WriteDeps, writeTool } from "./write.ts";
