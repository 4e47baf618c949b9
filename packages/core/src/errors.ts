/** A failure whose message and type reach the model unchanged. */
export class ToolError extends Error {
  readonly type: string;
  constructor(message: string, type = "execution_failed", options?: ErrorOptions) {
    super(message, options);
    this.name = "ToolError";
    this.type = type;
  }
}

/** Also accepts a `ToolError` from another copy of this package, because custom tools bring their own. */
export function isToolError(error: unknown): boolean {
  return error instanceof ToolError || (error instanceof Error && error.name === "ToolError");
}

/** An answer that cannot be used; the approval is unchanged. */
export class AnswerError extends Error {
  readonly type:
    | "unknown_approval"
    | "already_answered"
    | "stale_revision"
    | "bad_answer"
    | "answer_not_accepted"
    | "bad_rule"
    | "invalid_tool_params"
    | "not_modifiable";
  constructor(type: AnswerError["type"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AnswerError";
    this.type = type;
  }
}

/** The error a body gets when its nested action was not run, with the outcome's type. */
export class GateError extends Error {
  readonly type: string;
  constructor(message: string, type: string) {
    super(message);
    this.name = "GateError";
    this.type = type;
  }
}

/**
 * The abort reason that leaves a session for a later process: open approvals and questions keep waiting (reported as
 * `waiting`) and other calls are cancelled. Abort the signal of `process` or `resume` with `controller.abort(new
 * ParkRequest())`.
 */
export class ParkRequest extends Error {
  constructor(message = "the program was told to stop") {
    super(message);
    this.name = "ParkRequest";
  }

  /** True if a signal was aborted with a `ParkRequest`. */
  static isReasonOf({ reason }: AbortSignal): boolean {
    return reason instanceof ParkRequest;
  }
}

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
