import type { EmbeddedCall } from "./adapters/embedding.ts";

/** A call that did not succeed: denied, rejected, waiting for a person, failed, … The message is the text for the model. */
export class CallError extends Error {
  readonly call: EmbeddedCall;
  constructor(call: EmbeddedCall, text: string) {
    super(text);
    this.name = "CallError";
    this.call = call;
  }
}
