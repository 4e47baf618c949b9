import { InvalidInput } from "../schema/problems.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";
import { jsonPointer } from "./pointer.ts";

/** Also stops a value that contains itself. */
const MAX_LEVELS = 512;
/** Beyond this, no value may occur twice: a small value that shares parts can be huge when written out. */
const MAX_SHARING = 1 << 16;

type CopyWalk = {
  /** Refuses lone surrogates and prototype keys; otherwise they are repaired. */
  readonly strict: boolean;
  /** Accepts large numbers and `toJSON`, and describes a refused value. */
  readonly ofResult?: true;
  tooLarge?: true;
  /** No string has a lone surrogate. */
  readonly paired: boolean;
  readonly path: PropertyKey[];
  values: number;
  seen: Set<object> | undefined;
};

/** Returns a deep-frozen copy of an input; throws for values that JSON cannot represent. */
export function copyInput(value: unknown): JsonObject {
  if (!isObject(value)) throw new InvalidInput("params must be object");
  return copyMembers(value, { strict: true, paired: false, path: [], values: 0, seen: undefined });
}

/** Freezes a value just parsed from text. `paired`: the text has no lone surrogate. */
export function freezeRead(value: JsonObject, paired: boolean): JsonObject {
  if (paired && isFlat(value)) return Object.freeze(value);
  return freezeMembers(value, { strict: true, paired, path: [], values: 0, seen: undefined });
}

/** `for in` is twice as fast as a key list. */
function isFlat(value: JsonObject): boolean {
  for (const key in value) {
    const member = value[key];
    if (reachesPrototype(key) || (typeof member !== "string" && !isSmall(member))) return false;
  }
  return true;
}

function freezeMembers(source: JsonObject, walk: CopyWalk): JsonObject {
  enter(walk, source, 0); // a parsed text shares nothing
  for (const key of Object.keys(source)) {
    checkKey(key, walk);
    freezeMember(source[key], key, walk);
  }
  return Object.freeze(source);
}

function freezeItems(source: readonly Json[], walk: CopyWalk): void {
  enter(walk, source, 0);
  for (let i = 0; i < source.length; i++) freezeMember(source[i], i, walk);
  Object.freeze(source);
}

function freezeMember(value: Json | undefined, at: PropertyKey, walk: CopyWalk): void {
  if (walk.paired ? typeof value === "string" || isSmall(value) : isPlain(value)) return;
  walk.path.push(at);
  if (isObject(value)) freezeMembers(value, walk);
  else if (Array.isArray(value)) freezeItems(value, walk);
  else copy(value, walk);
  walk.path.pop();
}

/** Returns a deep-frozen copy with lone surrogates replaced; undefined if the value is not JSON. */
export function copyGiven(value: unknown): Json | undefined {
  try {
    return copy(value, { strict: false, paired: false, path: [], values: 0, seen: undefined });
  } catch (error) {
    if (error instanceof InvalidInput) return undefined;
    throw error;
  }
}

/** `keepable` is false if a number is too large to record exactly. */
export type ResultCopy = { readonly value: Json; readonly keepable: boolean };

/** Returns a deep-frozen copy of a tool's result; throws an error that locates an unrepresentable value. */
export function copyResult(value: unknown): ResultCopy {
  const walk: CopyWalk = { strict: false, ofResult: true, paired: false, path: [], values: 0, seen: undefined };
  const copied = copy(value, walk);
  return { value: copied, keepable: walk.tooLarge !== true };
}

function copy(value: unknown, walk: CopyWalk): Json {
  switch (typeof value) {
    case "string":
      return text(value, walk);
    case "boolean":
      return value;
    case "number":
      if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
      if (walk.ofResult && Number.isFinite(value)) {
        walk.tooLarge = true;
        return value;
      }
      return refuse(walk, walk.ofResult ? `is ${value}` : "must be finite and, as an integer, within ±(2^53 - 1)");
    case "object": {
      if (value === null) return null;
      const plain = walk.ofResult ? fromToJson(value, walk) : value;
      if (typeof plain !== "object" || plain === null) return copy(plain, walk);
      if (isObject(plain)) return copyMembers(plain, walk);
      return Array.isArray(plain) ? copyItems(plain, walk) : refuseValue(plain, walk);
    }
    default:
      return refuseValue(value, walk);
  }
}

/** As `JSON.stringify` does, for dates and others. */
function fromToJson(value: object, walk: CopyWalk): unknown {
  const convert: unknown = Reflect.get(value, "toJSON");
  return typeof convert === "function" ? convert.call(value, String(walk.path.at(-1) ?? "")) : value;
}

function copyMembers(source: Readonly<Record<string, unknown>>, walk: CopyWalk): JsonObject {
  if (!isRecord(source)) return refuseValue(source, walk);
  const keys = Object.keys(source);
  enter(walk, source, keys.length);
  const out: Record<string, Json> = {};
  for (const key of keys) {
    const name = checkKey(key, walk);
    const value = source[key];
    if (value === undefined) continue;
    if (isPlain(value) && name !== "__proto__") {
      out[name] = value;
      continue;
    }
    walk.path.push(key);
    if (name === "__proto__") Object.defineProperty(out, name, { value: copy(value, walk), enumerable: true });
    else out[name] = copy(value, walk);
    walk.path.pop();
  }
  return Object.freeze(out);
}

function copyItems(source: readonly unknown[], walk: CopyWalk): readonly Json[] {
  enter(walk, source, source.length);
  const out: Json[] = [];
  for (let i = 0; i < source.length; i++) {
    walk.path.push(i);
    out.push(copy(source[i], walk));
    walk.path.pop();
  }
  return Object.freeze(out);
}

function isPlain(value: unknown): value is string | number | boolean | null {
  return typeof value === "string" ? value.isWellFormed() : isSmall(value);
}

function isSmall(value: unknown): value is number | boolean | null {
  return typeof value === "boolean" || value === null || (typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER);
}

/** False for dates, maps and other objects with content outside their properties. */
function isRecord(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.prototype.toString.call(value) === "[object Object]";
}

function enter(walk: CopyWalk, source: object, values: number): void {
  if (walk.path.length >= MAX_LEVELS) {
    if (walk.ofResult) throw new InvalidInput(`it has more than ${MAX_LEVELS} levels, or contains itself`);
    throw new InvalidInput(`arguments exceed ${MAX_LEVELS} levels`, "input_too_large");
  }
  walk.values += values;
  if (walk.values <= MAX_SHARING) return;
  walk.seen ??= new Set();
  if (walk.seen.has(source)) throw new InvalidInput(`arguments exceed ${MAX_SHARING} values that share parts`, "input_too_large");
  walk.seen.add(source);
}

function reachesPrototype(key: string): boolean {
  return key === "__proto__" || key === "constructor" || key === "prototype";
}

function checkKey(key: string, walk: CopyWalk): string {
  if (walk.strict && reachesPrototype(key)) {
    return refuse(walk, `must not contain the key '${key}'`);
  }
  return text(key, walk);
}

function text(value: string, walk: CopyWalk): string {
  if (walk.paired || value.isWellFormed()) return value;
  return walk.strict ? refuse(walk, "must not contain a lone surrogate") : value.toWellFormed();
}

function refuseValue(value: unknown, walk: CopyWalk): never {
  if (!walk.ofResult) return refuse(walk, "must be JSON");
  const kind = typeof value === "object" ? Object.prototype.toString.call(value).slice("[object ".length, -1) : typeof value;
  return refuse(walk, kind === "undefined" ? "is undefined" : `is ${/^[aeiou]/i.test(kind) ? "an" : "a"} ${kind}, which JSON cannot carry`);
}

function refuse(walk: CopyWalk, what: string): never {
  const place = jsonPointer(walk.path).toWellFormed();
  if (!walk.ofResult) throw new InvalidInput(`params${place} ${what}`);
  throw new InvalidInput(`${place === "" ? "it" : `the value at ${place}`} ${what}`);
}
