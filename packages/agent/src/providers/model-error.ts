/** Why there is no model to talk to: the id names none, or its provider would not let us in. */
export class ModelError extends Error {
  readonly type: "unknown_model" | "provider_auth";
  /** What to do about it. */
  readonly hint: string;
  constructor(type: ModelError["type"], told: { readonly message: string; readonly hint: string; readonly cause?: unknown }) {
    super(told.message, told.cause === undefined ? undefined : { cause: told.cause });
    this.name = "ModelError";
    this.type = type;
    this.hint = told.hint;
  }
}
