/** Why an input cannot become an invocation; the message is the reason alone, the words around it are the caller's. */
export class InvalidInput extends Error {
  readonly type: "invalid_tool_params" | "input_too_large";
  constructor(message: string, type: "invalid_tool_params" | "input_too_large" = "invalid_tool_params", options?: ErrorOptions) {
    super(message, options);
    this.name = "InvalidInput";
    this.type = type;
  }
}
