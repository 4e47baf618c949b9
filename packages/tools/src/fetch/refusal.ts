/** Why there is no text: an error type and a sentence for the model. */
export class Refusal extends Error {
  readonly type: "web_fetch_failed" | "web_fetch_blocked";

  constructor(type: Refusal["type"], message: string) {
    super(message);
    this.name = "Refusal";
    this.type = type;
  }
}
