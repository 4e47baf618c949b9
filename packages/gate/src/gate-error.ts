import type { EmbeddedCall } from "./adapters/embedding.ts";

/** A mistake in setting up or using a gate. The message says what to do. */
export class GateUsageError extends Error {
  readonly type: "bad_option" | "bad_tool" | "bad_call" | "bad_answer" | "closed";
  constructor(type: GateUsageError["type"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "GateUsageError";
    this.type = type;
  }
}

/** A call that did not succeed: denied, rejected, waiting for a person, failed, … The message is the text for the model. */
export class CallError extends Error {
  readonly call: EmbeddedCall;
  constructor(call: EmbeddedCall, text: string) {
    super(text);
    this.name = "CallError";
    this.call = call;
  }
}
