import type { Json } from "../json/json.ts";

/** One change to what the model sent, shown to people and recorded. */
export type Coercion = {
  /** A JSON pointer into the input; empty for the root. */
  readonly path: string;
  readonly from: Json;
  readonly to: Json;
  readonly rule: "boolean" | "string" | "json" | "number" | "alias" | "schema";
};
