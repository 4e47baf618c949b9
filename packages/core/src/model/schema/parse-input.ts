import { freezeRead } from "../json/copy.ts";
import { isTooDeep, MOST_LEVELS } from "../json/depth.ts";
import { isJsonObject, isObject, type JsonObject } from "../json/json.ts";
import { pointerStep } from "../json/pointer.ts";
import type { Coercion } from "./coerce.ts";

/** A call's arguments, or why they are invalid. */
export type ParsedInput =
  | { readonly ok: true; readonly value: JsonObject; readonly coercions: readonly Coercion[] }
  | { readonly ok: false; readonly type: "invalid_json" | "invalid_tool_params" | "input_too_large"; readonly message: string };

type InputRefusal = Extract<ParsedInput, { readonly ok: false }>;

const MAX_BYTES = 16 * 1024 * 1024;
/** Texts this short cannot nest too deep for the parser. */
const SHORT = 64 * 1024;
const OPEN_BRACE = 0x7b;
const NONE: readonly Coercion[] = Object.freeze([]);
const NOT_AN_OBJECT: InputRefusal = Object.freeze({ ok: false, type: "invalid_tool_params", message: "params must be object" });
const TOO_LONG: InputRefusal = Object.freeze({ ok: false, type: "input_too_large", message: "arguments exceed 16 MiB of text" });
const TOO_DEEP: InputRefusal = Object.freeze({ ok: false, type: "input_too_large", message: `arguments exceed ${MOST_LEVELS} levels` });

/** A frozen input, or arguments that the caller may still change. */
export type ReadText = ParsedInput | { readonly frozen: JsonObject };

/** Parses a call's arguments and freezes them without a copy. Throws `InvalidInput`. */
export function readToolInput(text: string): ReadText {
  if (text.charCodeAt(0) !== OPEN_BRACE || text.length > SHORT) return parseToolInput(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return parseToolInput(text);
  }
  return isJsonObject(value) ? { frozen: freezeRead(value, text.isWellFormed() && !text.includes("\\u")) } : NOT_AN_OBJECT;
}

/** Reads a call's arguments; accepts only JSON that survives a round trip. */
export function parseToolInput(text: string): ParsedInput {
  if (isTooLong(text)) return TOO_LONG;
  if (text.length > SHORT && isTooDeep(text)) return TOO_DEEP;
  if (text.charCodeAt(0) !== OPEN_BRACE && text.trim() === "") return { ok: true, value: {}, coercions: NONE };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, type: "invalid_json", message: `arguments are not valid JSON (${reasonOf(error)})` };
  }
  return parseToolValue(value);
}

/** Reads arguments that the caller parsed; a text that holds an object is parsed again, as a coercion. */
export function parseToolValue(value: unknown): ParsedInput {
  if (typeof value === "string") return parseInner(value);
  if (!isJsonObject(value)) return NOT_AN_OBJECT;
  try {
    return findRefusal(value, 1, { units: 0 }) ?? { ok: true, value, coercions: NONE };
  } catch {
    return { ok: false, type: "invalid_tool_params", message: "params must be JSON" };
  }
}

/** The parser's quote may cut a surrogate pair. */
function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : "unreadable").toWellFormed();
}

function parseInner(text: string): ParsedInput {
  if (!/^\s*\{/.test(text)) return NOT_AN_OBJECT;
  const inner = parseToolInput(text);
  if (!inner.ok) return inner.type === "invalid_json" ? NOT_AN_OBJECT : inner;
  return { ok: true, value: inner.value, coercions: [{ path: "", from: text, to: inner.value, rule: "json" }] };
}

/** The level limit also stops a value that contains itself. */
function findRefusal(value: unknown, level: number, seen: { units: number }): InputRefusal | undefined {
  switch (typeof value) {
    case "string":
      return refuseText(value, seen);
    case "number":
      return Math.abs(value) <= Number.MAX_SAFE_INTEGER
        ? undefined
        : invalidParams("must be finite and, as an integer, within ±(2^53 - 1)");
    case "object":
      if (level > MOST_LEVELS && value !== null) return TOO_DEEP;
      if (isObject(value)) return refuseMembers(value, level, seen);
      return Array.isArray(value) ? refuseItems(value, level, seen) : undefined;
    case "boolean":
      return undefined;
    default:
      return invalidParams("must be JSON");
  }
}

function refuseText(value: string, seen: { units: number }): InputRefusal | undefined {
  seen.units += value.length;
  if (seen.units > MAX_BYTES) return TOO_LONG;
  return value.isWellFormed() ? undefined : invalidParams("must not contain a lone surrogate");
}

function refuseItems(items: readonly unknown[], level: number, seen: { units: number }): InputRefusal | undefined {
  for (let i = 0; i < items.length; i++) {
    const refusal = findRefusal(items[i], level + 1, seen);
    if (refusal) return prependStep(refusal, i);
  }
  return undefined;
}

function refuseMembers(value: Readonly<Record<string, unknown>>, level: number, seen: { units: number }): InputRefusal | undefined {
  for (const key of Object.keys(value)) {
    const member = value[key];
    const refusal = refuseText(key, seen) ?? (member === undefined ? undefined : findRefusal(member, level + 1, seen));
    if (refusal) return prependStep(refusal, key);
  }
  return undefined;
}

function invalidParams(text: string): InputRefusal {
  return { ok: false, type: "invalid_tool_params", message: `params ${text}` };
}

function prependStep(refusal: InputRefusal, key: string | number): InputRefusal {
  if (refusal.type === "input_too_large") return refusal;
  const step = pointerStep(String(key).slice(0, 80).toWellFormed());
  return { ...refusal, message: `params${step}${refusal.message.slice("params".length)}` };
}

function isTooLong(text: string): boolean {
  if (text.length > MAX_BYTES || text.length * 3 <= MAX_BYTES) return text.length > MAX_BYTES;
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // a surrogate pair is two units and four bytes
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes > MAX_BYTES;
}
