import { keptErrorType } from "../error-types.ts";
import { copyGiven } from "../json/copy.ts";
import { isObject, type Json } from "../json/json.ts";
import { modelText, NO_OUTPUT } from "../text/model-text.ts";
import type { Content, ContentPart, Display, Spilled, ToolResult } from "./result.ts";
import { messageOf } from "./thrown.ts";

/** A valid result, and warnings about what was left out. */
export type NormalizedResult = { readonly result: ToolResult; readonly warnings: readonly string[] };

type ResultDraft = { -readonly [K in keyof ToolResult]: ToolResult[K] };

const NONE: readonly string[] = Object.freeze([]);
const EXTRAS = ["display", "details", "spilled"] as const;
const MAX_PART_BYTES = 20_000_000;
const DISPLAYS: readonly unknown[] = ["file_diff", "todo_list", "plan_summary", "task_execution", "ansi_output", "tool_progress"];

/** Turns what a body returned into a result; an invalid one becomes a failure. Never throws. */
export function normalizeResult(name: string, returned: unknown): NormalizedResult {
  if (typeof returned === "string") return { result: textResult(returned), warnings: NONE };
  try {
    return (isObject(returned) ? fromRecord(name, returned) : undefined) ?? { result: invalidResult(name), warnings: NONE };
  } catch (error) {
    return { result: invalidResult(name), warnings: [`Tool '${name}': its result could not be read: ${messageOf(error)}`] };
  }
}

export function textResult(returned: string): ToolResult {
  const text = returned.toWellFormed();
  return { content: isBlank(text) ? NO_OUTPUT : text, display: text };
}

function invalidResult(name: string): ToolResult {
  const message = modelText.invalid_tool_result({ name });
  return { content: `Error: ${message}`, display: message, error: { message, type: "invalid_tool_result" } };
}

/** Undefined if it is not a result; reads each field once. */
function fromRecord(name: string, returned: Readonly<Record<string, unknown>>): NormalizedResult | undefined {
  const { content, display, error, modelOverride, details, spilled } = returned;
  const failure = error === undefined || error === null ? undefined : readFailure(error);
  if (failure === "malformed") return undefined;
  const read = content === undefined && failure ? "" : readContent(content);
  if (read === undefined) return undefined;
  const draft: ResultDraft = { content: isBlank(read) ? (failure ? `Error: ${failure.message}` : NO_OUTPUT) : read };
  if (failure) draft.error = failure;
  else if (typeof modelOverride === "string" && !isBlank(modelOverride)) draft.modelOverride = modelOverride;
  return { result: draft, warnings: addExtras(name, draft, { display, details, spilled }) };
}

function readFailure(error: unknown): { readonly message: string; readonly type: string } | "malformed" {
  if (typeof error === "string") return { message: error.toWellFormed(), type: "unknown" };
  if (!isObject(error)) return "malformed";
  const { message, type } = error;
  return { message: typeof message === "string" ? message.toWellFormed() : "unknown error", type: keptErrorType(type) };
}

function readContent(content: unknown): Content | undefined {
  if (typeof content === "string") return content.toWellFormed();
  if (!Array.isArray(content)) return undefined;
  const parts: ContentPart[] = [];
  for (const given of content) {
    const part = isObject(given) ? readPart(given) : undefined;
    if (!part) return undefined;
    parts.push(part);
  }
  return parts;
}

function readPart(part: Readonly<Record<string, unknown>>): ContentPart | undefined {
  switch (part["type"]) {
    case "text": {
      const { text } = part;
      return typeof text === "string" ? { type: "text", text: text.toWellFormed() } : undefined;
    }
    case "image":
    case "file":
      return readBytes(part);
    case "json":
      return readJson(part["value"]);
    default:
      return undefined;
  }
}

function readBytes({ type, mediaType, data, name }: Readonly<Record<string, unknown>>): ContentPart | undefined {
  if (typeof mediaType !== "string" || typeof data !== "string") return undefined;
  const size = base64Bytes(data);
  if (size > MAX_PART_BYTES) return { type: "text", text: `[${mediaType}, ${size} bytes: too large to show]` };
  if (type === "image") return { type: "image", mediaType, data };
  return typeof name === "string" ? { type: "file", mediaType, data, name } : { type: "file", mediaType, data };
}

function base64Bytes(data: string): number {
  const padding = data.endsWith("==") ? 2 : Number(data.endsWith("="));
  return Math.floor((data.length * 3) / 4) - padding;
}

/** A number that our records cannot hold is passed on as text. */
function readJson(given: unknown): ContentPart | undefined {
  const value = copyGiven(given);
  if (value !== undefined) return { type: "json", value };
  const text = JSON.stringify(given, (_, inner: unknown) => {
    if (typeof inner === "function" || typeof inner === "symbol") throw new TypeError(`a ${typeof inner} is not JSON`);
    if (typeof inner === "number" && !Number.isFinite(inner)) throw new TypeError(`${inner} is not JSON`);
    return inner;
  });
  return text === undefined ? undefined : { type: "text", text: text.toWellFormed() };
}

/** Nearly every text begins with a letter, which is faster to check than trimming. */
function beginsWithLetter(text: string): boolean {
  const first = text.charCodeAt(0);
  return first > 0x20 && first < 0x7f;
}

function isBlank(content: Content): boolean {
  if (typeof content === "string") return !beginsWithLetter(content) && content.trim() === "";
  return content.every((part) => part.type === "text" && isBlank(part.text));
}

type Extras = { readonly display: unknown; readonly details: unknown; readonly spilled: unknown };

/** Malformed extras are dropped, so that a body that did its work does not count as failed. */
function addExtras(name: string, draft: ResultDraft, given: Extras): readonly string[] {
  const display = given.display === undefined ? undefined : readDisplay(given.display);
  const details = given.details === undefined ? undefined : copyGiven(given.details);
  const spilled = isSpilled(given.spilled) ? given.spilled : undefined;
  if (display !== undefined) draft.display = display;
  if (details !== undefined) draft.details = details;
  if (spilled !== undefined) draft.spilled = spilled;
  const dropped = EXTRAS.filter((field) => given[field] !== undefined && draft[field] === undefined);
  return dropped.length === 0
    ? NONE
    : dropped.map((field) => `Tool '${name}': '${field}' of its result was dropped: it is not JSON, or not of a known shape`);
}

function readDisplay(display: unknown): Display | undefined {
  if (typeof display === "string") return display.toWellFormed();
  const copy = copyGiven(display);
  return isDisplay(copy) ? copy : undefined;
}

function isDisplay(value: Json | Display | undefined): value is Display {
  return isObject(value) && DISPLAYS.includes(value["type"]);
}

function isSpilled(value: unknown): value is readonly Spilled[] {
  return (
    Array.isArray(value) &&
    value.every(
      (file) =>
        isObject(file) && typeof file["path"] === "string" && typeof file["size"] === "number" && typeof file["sha256"] === "string",
    )
  );
}
