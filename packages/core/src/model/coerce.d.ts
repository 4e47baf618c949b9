import type { Coercion } from "./coercion.ts";
import { type Json } from "./json.ts";
/** What coercion made of a value. Without coercions the value is the very one that was given. */
export type Coerced = {
  readonly value: Json;
  readonly coercions: readonly Coercion[];
  /** Places of the schema and of the value that were looked at: linear in both. */
  readonly visits: number;
};
/** Turns scalars that a model wrote in the wrong type into the type the schema asks for, on a copy. Whether the outcome is valid is the validator's to say. */
export declare function coerce(schema: unknown, value: Json): Coerced;
