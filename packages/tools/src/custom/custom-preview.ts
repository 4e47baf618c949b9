import { type Display, isObject, type PlannedChange, type Preview, ToolError, type ToolOutput, type ToolResult } from "@assent/core";
import { lineChanges, makeChangeBlocks } from "@assent/core/parts";
import { resolvePath } from "@assent/policy";
import { MAX_TEXT } from "../edits/preview.ts";
import { failure } from "../failure.ts";
import { isBinary, readCurrentFile } from "../files/file-bytes.ts";
import type { CustomChange, CustomPreview } from "./custom-tool.ts";

const MOST_KEPT = 256 * 1024 * 1024;

/** Converts what a custom `preview` returned to a preview with both sides of every file. A result is passed on. */
export async function readPreview(name: string, returned: unknown, cwd: string): Promise<Preview | ToolResult> {
  if (!isPreview(returned)) return readResult(name, returned) as ToolResult; // the runtime refuses any other value here
  const { label, changes, blocks, data, details } = returned;
  const planned: PlannedCustomChange[] = [];
  for (const change of changes) {
    const one = await planChange(change, cwd);
    if (one) planned.push(one);
  }
  if (changes.length > 0 && planned.length === 0) return failure("edit_no_change", "The files already have this content.");
  return {
    label,
    blocks: blocks ?? planned.flatMap(describeChange),
    changes: planned.map(({ change }) => change),
    ...(data !== undefined && { data }),
    ...(details !== undefined && { details }),
  };
}

function isPreview(returned: unknown): returned is CustomPreview {
  if (!isObject(returned) || typeof returned["label"] !== "string" || !Array.isArray(returned["changes"])) return false;
  const { changes, blocks } = returned;
  return changes.every(isChange) && (blocks === undefined || (Array.isArray(blocks) && blocks.every((block) => typeof block === "string")));
}

function isChange(change: unknown): boolean {
  if (!isObject(change)) return false;
  const { path, content, to, mode } = change;
  if (typeof path !== "string" || path === "" || (to !== undefined && typeof to !== "string")) return false;
  if (mode !== undefined && typeof mode !== "number") return false;
  return content === undefined ? to !== undefined : content === null || typeof content === "string" || content instanceof Uint8Array;
}

type PlannedCustomChange = { readonly given: CustomChange; readonly change: PlannedChange };

/** Undefined if the file already has this content. */
async function planChange(given: CustomChange, cwd: string): Promise<PlannedCustomChange | undefined> {
  const { path, content, to, mode } = given;
  const { absolute, real } = resolvePath(path, cwd);
  if (real === null) throw new ToolError(`Where ${path} leads cannot be determined.`, "file_write_failure");
  const before = (await readCurrentFile(real, MOST_KEPT))?.bytes ?? null;
  if (!before && (content === undefined || content === null)) throw new ToolError(`${path} does not exist.`, "file_not_found");
  const after = content === undefined ? before : toBytes(content);
  if (to === undefined && before && after && before.equals(after)) return undefined;
  const target = to === undefined ? undefined : resolvePath(to, cwd).real;
  if (target === null) throw new ToolError(`Where ${to} leads cannot be determined.`, "file_write_failure");
  const change = {
    path: absolute,
    realPath: real,
    before,
    after,
    ...(target !== undefined && { to: target }),
    ...(mode !== undefined && { mode }),
  };
  return { given, change };
}

function toBytes(content: string | Uint8Array | null): Buffer | null {
  return content === null ? null : Buffer.from(content);
}

function describeChange({ given: { path, to }, change: { before, after } }: PlannedCustomChange): readonly string[] {
  const shown = to === undefined ? path : `${path} → ${to}`;
  if (!isText(before) || !isText(after)) return [`${shown}\n  ${describeSize(before)} become ${describeSize(after)}`];
  const blocks = makeChangeBlocks(shown, lineChanges(decodeBytes(before), decodeBytes(after)));
  return blocks.length > 0 ? blocks : [shown];
}

function isText(bytes: Uint8Array | null): boolean {
  return bytes === null || (bytes.length <= MAX_TEXT && !isBinary(bytes));
}

function decodeBytes(bytes: Uint8Array | null): string {
  return bytes === null ? "" : Buffer.from(bytes).toString("utf8");
}

function describeSize(bytes: Uint8Array | null): string {
  return bytes === null ? "no bytes" : `${bytes.length} bytes`;
}

/** Converts what a custom tool returned to a result or a plain value. The runtime checks every value and field. */
export function readResult(name: string, returned: unknown): ToolOutput {
  if (!isObject(returned)) return returned as ToolOutput;
  const { isError, error, content, ...rest } = returned;
  if (content === undefined && !isError && (error === undefined || error === null)) return returned as ToolOutput;
  if (content !== undefined && !Array.isArray(content))
    return failure("invalid_tool_result", `Tool '${name}' ran, but its result could not be kept: its content is not a list of parts.`);
  const parts = content ?? (Object.keys(rest).length === 0 ? [] : [{ type: "json", value: rest }]);
  const failed =
    error ??
    (isError ? { message: joinText({ content: parts }).trim() || "The tool reported an error.", type: "execution_failed" } : undefined);
  return { ...rest, content: parts, ...(failed !== undefined && { error: failed }) } as unknown as ToolResult;
}

/** Converts an update of a running call to a display; undefined if it cannot be shown. */
export function readUpdate(soFar: unknown): Display | undefined {
  if (typeof soFar === "string") return soFar;
  return isObject(soFar) && Array.isArray(soFar["content"]) ? joinText(soFar) : undefined;
}

function joinText({ content }: Readonly<Record<string, unknown>>): string {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts.flatMap((part) => (isObject(part) && typeof part["text"] === "string" ? [part["text"]] : [])).join("\n");
}
