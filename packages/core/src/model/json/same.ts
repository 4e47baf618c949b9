import { isObject } from "./json.ts";

/** True if the values are equal as JSON; undefined properties count as absent. */
export function sameJson(json: unknown, value: unknown): boolean {
  if (json === value) return true;
  if (typeof json !== "object" || json === null || typeof value !== "object" || value === null) return false;
  if (Array.isArray(json)) return Array.isArray(value) && sameItems(json, value);
  return isObject(json) && isPlain(value) && sameMembers(json, value);
}

function sameItems(json: readonly unknown[], value: readonly unknown[]): boolean {
  if (json.length !== value.length) return false;
  for (let i = 0; i < json.length; i++) if (!sameJson(json[i], value[i])) return false;
  return true;
}

/** `for in` is twice as fast as key lists; inherited members cancel out. */
function sameMembers(json: Readonly<Record<string, unknown>>, value: Readonly<Record<string, unknown>>): boolean {
  let members = 0;
  for (const key in value) {
    const member = value[key];
    if (member === undefined) continue;
    members++;
    if (isPart(member) ? !(Object.hasOwn(json, key) && sameJson(json[key], member)) : json[key] !== member) return false;
  }
  for (const _ in json) members--;
  return members === 0;
}

function isPart(value: unknown): boolean {
  return typeof value === "object" || typeof value === "function";
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
