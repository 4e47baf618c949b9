import type { Schemas } from "./ports.ts";
import type { StandardSchema } from "./standard-schema.ts";
import type { JsonSchema, Tool, ToolDefinition } from "./tool-definition.ts";
export { ToolDefinitionError } from "./tool-definition-error.ts";
/** Checks a definition, freezes it, and makes the tool of it; throws `ToolDefinitionError`. Nothing is registered by defining. */
export declare function defineTool<S extends StandardSchema | JsonSchema>(given: ToolDefinition<S>, options?: {
    readonly schemas?: Schemas;
}): Tool;
/** Makes sure that a tool's input will be validated; throws `schema_does_not_compile`. A tool that was not made by `defineTool` validates by its own build. */
export declare function compileInput(tool: Tool, schemas: Schemas | undefined): void;
/** True for an object with a name and a build function, whoever made it; never throws. */
export declare function isTool(value: unknown): value is Tool;
