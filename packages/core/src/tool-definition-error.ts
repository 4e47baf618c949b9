/** What is wrong with a tool, for programs. */
export type DefinitionCode =
  | "bad_name"
  | "bad_description"
  | "bad_kind"
  | "bad_schema"
  | "schema_does_not_compile"
  | "bad_body"
  | "contradiction"
  | "unknown_field"
  | "bad_limit"
  | "duplicate_name"
  | "not_a_tool";

/** An author's mistake in a tool definition; the tool is refused before it can be called. */
export class ToolDefinitionError extends Error {
  readonly code: DefinitionCode;
  constructor(code: DefinitionCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ToolDefinitionError";
    this.code = code;
  }
}
