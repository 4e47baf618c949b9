import { keptErrorType } from "../error-types.ts";
import { copyGiven, copyResult } from "../json/copy.ts";
import { isObject, type Json } from "../json/json.ts";
import { modelText, NO_OUTPUT } from "../text/model-text.ts";
import { type Content, type ContentPart, type Display, onlyValue, type SpilledOutput, type ToolResult } from "./result.ts";
import { messageOf } from "./thrown.ts";

/** A valid result, and warnings about what was left out. `unkept`: the body ran, but what it returned is not a result. */
export type NormalizedResult = { readonly result: ToolResult; readonly warnings: readonly string[]; readonly unkept?: true };

type ResultDraft = { -readonly [K in keyof ToolResult]: ToolResult[K] };

const NONE: readonly string[] = Object.freeze([]);
const EXTRAS = ["display", "details", "spilled"] as const;
const MAX_PART_BYTES = 20_000_000;
const DISPLAYS: readonly unknown[] = ["file_diff", "todo_list", "plan_summary", "task_execution", "ansi_output", "tool_progress"];

/**
 * Turns what a body returned into a result. An object with `content` or `error` is a `ToolResult`; any other JSON value is sent to the
 * model as JSON text. What cannot be kept becomes a failure that says that the tool ran. Never throws.
 */
export function normalizeResult(name: string, returned: unknown): NormalizedResult {
  if (typeof returned === "string") return { result: textResult(returned), warnings: NONE };
  try {
    return readReturned(name, returned);
  } catch (error) {
    return { result: invalidResult(name, messageOf(error)), warnings: NONE, unkept: true };
  }
}

/** Reads a text or a `ToolResult`; any other value is a mistake here. Never throws. */
export function readPlainResult(name: string, returned: unknown): ToolResult {
  const isResult = typeof returned === "string" || (isObject(returned) && ("content" in returned || "error" in returned));
  const { result, unkept } = normalizeResult(name, isResult ? returned : undefined);
  return unkept ? invalidResult(name) : result;
}

export function textResult(returned: string): ToolResult {
  const text = returned.toWellFormed();
  return { content: isBlank(text) ? NO_OUTPUT : text, display: text };
}

/** The result for the value of a function that does not know `ToolResult`; `undefined` is an empty result. */
export function jsonResult(value: unknown): ToolResult {
  if (value === undefined) return { content: NO_OUTPUT };
  return typeof value === "string" ? { ...textResult(value), value } : { content: [{ type: "json", value: value as Json }] };
}

function invalidResult(name: string, why?: string): ToolResult {
  const message = modelText.invalid_tool_result({ name, why });
  return { content: `Error: ${message}`, display: message, error: { message, type: "invalid_tool_result" } };
}

/** Throws a sentence that says why it is not a result. */
function readReturned(name: string, returned: unknown): NormalizedResult {
  if (returned === undefined) throw new TypeError("it returned nothing");
  if (!isObject(returned)) return fromValue(returned);
  const { content, display, error, modelOverride, details, spilled, value } = returned;
  if (content === undefined && !isObject(error) && (typeof error !== "string" || error === "")) return fromValue(returned);
  const failure = error === undefined || error === null ? undefined : readFailure(error);
  const read = content === undefined ? "" : readContent(content);
  const draft: ResultDraft = { content: isBlank(read) ? (failure ? `Error: ${failure.message}` : NO_OUTPUT) : read };
  if (failure) draft.error = failure;
  else if (typeof modelOverride === "string" && !isBlank(modelOverride)) draft.modelOverride = modelOverride;
  const warnings = addExtras(name, draft, { display, details, spilled });
  return { result: draft, warnings: addValue(draft, value) ? warnings : [...warnings, `Tool '${name}': ${UNKEPT_VALUE}`] };
}

const UNKEPT_VALUE = "its value was dropped: records cannot hold an integer beyond 2^53 - 1 exactly";

function fromValue(returned: unknown): NormalizedResult {
  const part = readJson(returned);
  return { result: part.type === "json" ? { content: [part], value: part.value } : { content: [part] }, warnings: NONE };
}

/** False if the value cannot be recorded exactly, and so is left out. */
function addValue(draft: ResultDraft, given: unknown): boolean {
  const { value, keepable } = given === undefined ? { value: onlyValue(draft.content), keepable: true } : copyResult(given);
  if (value !== undefined && keepable) draft.value = value;
  return keepable;
}

function readFailure(error: unknown): { readonly message: string; readonly type: string } {
  if (typeof error === "string") return { message: error.toWellFormed(), type: "unknown" };
  if (!isObject(error)) throw new TypeError("its error is not an object or a text");
  const { message, type } = error;
  return { message: typeof message === "string" ? message.toWellFormed() : "unknown error", type: keptErrorType(type) };
}

function readContent(content: unknown): Content {
  if (typeof content === "string") return content.toWellFormed();
  if (!Array.isArray(content)) throw new TypeError("its content is not a text or a list of parts");
  return content.map((given: unknown, at) => {
    const part = isObject(given) ? readPart(given) : undefined;
    if (!part) throw new TypeError(`part ${at + 1} of its content is not a text, image, file or json part`);
    return part;
  });
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

/** A value with a number that records cannot hold exactly is passed on as text. */
function readJson(given: unknown): Extract<ContentPart, { readonly type: "json" | "text" }> {
  const { value, keepable } = copyResult(given);
  return keepable ? { type: "json", value } : { type: "text", text: JSON.stringify(value) };
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

function isSpilled(value: unknown): value is readonly SpilledOutput[] {
  return (
    Array.isArray(value) &&
    value.every(
      (file) =>
        isObject(file) && typeof file["path"] === "string" && typeof file["size"] === "number" && typeof file["sha256"] === "string",
    )
  );
}
