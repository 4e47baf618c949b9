/** A mistake in setting up or using a gate. The message says what to do. */
export class GateUsageError extends Error {
  readonly type: "bad_option" | "bad_tool" | "bad_call" | "bad_answer" | "closed";
  constructor(type: GateUsageError["type"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "GateUsageError";
    this.type = type;
  }
}
