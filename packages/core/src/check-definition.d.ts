import type { ToolDefinition } from "./tool-definition.ts";
/** Checks what an author wrote and freezes it; from here on its fields are what their types say. Throws `ToolDefinitionError`. */
export declare function parseDefinition(given: unknown): ToolDefinition;
