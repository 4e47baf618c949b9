/** A failure in the words and with the type its thrower chose: it reaches the model as it is, never wrapped. */
export class ToolError extends Error {
  readonly type: string;
  constructor(message: string, type = "execution_failed", options?: ErrorOptions) {
    super(message, options);
    this.name = "ToolError";
    this.type = type;
  }
}
