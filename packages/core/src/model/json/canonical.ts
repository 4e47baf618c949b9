import { isObject } from "./json.ts";

/** Thrown for a value without a canonical form; storing it would change what was fingerprinted. */
export class EventInvalid extends Error {
  readonly type: "event_invalid" = "event_invalid";
  constructor(what: string, key: string | number) {
    super(`cannot be written as canonical JSON: ${what}${key === "" ? "" : ` at '${key}'`}`);
    this.name = "EventInvalid";
  }
}

const MAX_DEPTH = 1024;

/** The canonical text of a value (RFC 8785); throws `EventInvalid` for values that JSON would lose or change. */
export function canonicalJson(value: unknown): string {
  return write(value, "", 0);
}

function write(value: unknown, key: string | number, depth: number): string {
  switch (typeof value) {
    case "string":
      return quote(value, key);
    case "number":
      return decimal(value, key);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depth === MAX_DEPTH) throw new EventInvalid(`more than ${MAX_DEPTH} levels, or a value that contains itself,`, key);
      if (isObject(value)) return record(value, key, depth + 1);
      return Array.isArray(value) ? list(value, depth + 1) : "null";
    default:
      throw new EventInvalid(typeof value, key);
  }
}

function list(items: readonly unknown[], depth: number): string {
  let out = "[";
  for (let i = 0; i < items.length; i++) out += i === 0 ? write(items[i], i, depth) : `,${write(items[i], i, depth)}`;
  return `${out}]`;
}

function record(value: Readonly<Record<string, unknown>>, key: string | number, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new EventInvalid("an object that is not plain", key);
  let out = "{";
  for (const name of sortedKeys(value)) {
    const member = value[name];
    if (member !== undefined) out += `${out === "{" ? "" : ","}${quote(name, name)}:${write(member, name, depth)}`;
  }
  return `${out}}`;
}

/** An insertion sort is several times faster, because most objects are small and sorted. */
function sortedKeys(value: object): readonly string[] {
  const keys = Object.keys(value);
  if (keys.length > 16) return keys.sort();
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] ?? "";
    let place = i;
    for (; place > 0 && (keys[place - 1] ?? "") > key; place--) keys[place] = keys[place - 1] ?? "";
    keys[place] = key;
  }
  return keys;
}

/** Characters that need escaping, and surrogates. */
const NEEDS_CARE = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** For longer texts, searching costs more than escaping. */
const SHORT = 256;

function quote(text: string, key: string | number): string {
  if (text.length <= SHORT && !NEEDS_CARE.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw new EventInvalid("a lone surrogate", key);
  return JSON.stringify(text);
}

function decimal(value: number, key: string | number): string {
  if (Number.isNaN(value) || Math.abs(value) === Number.POSITIVE_INFINITY) throw new EventInvalid(String(value), key);
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw new EventInvalid(`an integer beyond 2^53 - 1 (${value})`, key);
  return String(value);
}
