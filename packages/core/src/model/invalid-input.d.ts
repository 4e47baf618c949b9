/** Why an input cannot become an invocation; the message is the reason alone, the words around it are the caller's. */
export declare class InvalidInput extends Error {
  readonly type: "invalid_tool_params" | "input_too_large";
  constructor(message: string, type?: "invalid_tool_params" | "input_too_large", options?: ErrorOptions);
}
