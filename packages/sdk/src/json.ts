/** A JSON object, as it came over the wire. */
export type JsonObject = { readonly [key: string]: unknown };

/** Whether a value is a JSON object: no list, no null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
