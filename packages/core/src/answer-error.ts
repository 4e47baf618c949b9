/** An answer that cannot be used; the approval stays as it was. */
export class AnswerError extends Error {
  readonly type:
    | "unknown_approval"
    | "already_answered"
    | "stale_revision"
    | "bad_answer"
    | "bad_rule"
    | "invalid_tool_params"
    | "not_modifiable";
  constructor(type: AnswerError["type"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AnswerError";
    this.type = type;
  }
}
