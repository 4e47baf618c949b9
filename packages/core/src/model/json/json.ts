/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** True for a plain, non-array object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for an object whose content is known to be JSON, such as a part of parsed text. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}
