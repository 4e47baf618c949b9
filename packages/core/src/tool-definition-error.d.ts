/** What is wrong with a tool, for programs. */
export type DefinitionCode = "bad_name" | "bad_description" | "bad_kind" | "bad_schema" | "schema_does_not_compile" | "bad_body" | "contradiction" | "unknown_field" | "bad_limit" | "duplicate_name" | "not_a_tool";
/** A tool that is refused before anything can call it: a mistake of its author, told in a sentence. */
export declare class ToolDefinitionError extends Error {
    readonly code: DefinitionCode;
    constructor(code: DefinitionCode, message: string, options?: ErrorOptions);
}
