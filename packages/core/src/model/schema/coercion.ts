import type { Json } from "../json/json.ts";

/** One deviation from what the model sent, so that a person and the ledger see both values. */
export type Coercion = {
  /** A JSON pointer into the input; empty for the whole. */
  readonly path: string;
  readonly from: Json;
  readonly to: Json;
  readonly rule: "boolean" | "string" | "json" | "number" | "alias" | "schema";
};
