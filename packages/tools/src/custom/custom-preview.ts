import { isObject, type PlannedChange, type Preview, ToolError, type ToolResult } from "@assent/core";
import { resolvePath } from "@assent/policy";
import { changeBlocks } from "../edits/change-blocks.ts";
import { lineChanges } from "../edits/line-changes.ts";
import { MAX_TEXT } from "../edits/preview.ts";
import { failure } from "../failure.ts";
import { currentFile, isBinary } from "../files/file-bytes.ts";
import { readResult } from "./custom-result.ts";
import type { CustomChange, CustomPreview } from "./custom-tool.ts";

const MOST_KEPT = 256 * 1024 * 1024;

/** What a custom tool's `preview` returned, as the runtime stages it: both sides of every file, and a text for every change. A result is passed on. */
export async function readPreview(name: string, returned: unknown, cwd: string): Promise<Preview | ToolResult> {
  if (!isPreview(returned)) return readResult(name, returned);
  const { label, changes, blocks, data, details } = returned;
  const planned: Planned[] = [];
  for (const change of changes) {
    const one = await plan(change, cwd);
    if (one) planned.push(one);
  }
  if (changes.length > 0 && planned.length === 0) return failure("edit_no_change", "The files are as the call would make them.");
  return {
    label,
    blocks: blocks ?? planned.flatMap(blocksOf),
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

type Planned = { readonly given: CustomChange; readonly change: PlannedChange };

/** Undefined: the file is so already. */
async function plan(given: CustomChange, cwd: string): Promise<Planned | undefined> {
  const { path, content, to, mode } = given;
  const { absolute, real } = resolvePath(path, cwd);
  if (real === null) throw new ToolError(`Where ${path} leads cannot be told.`, "file_write_failure");
  const before = (await currentFile(real, MOST_KEPT))?.bytes ?? null;
  if (!before && (content === undefined || content === null)) throw new ToolError(`${path} does not exist.`, "file_not_found");
  const after = content === undefined ? before : bytesOf(content);
  if (to === undefined && before && after && before.equals(after)) return undefined;
  const target = to === undefined ? undefined : resolvePath(to, cwd).real;
  if (target === null) throw new ToolError(`Where ${to} leads cannot be told.`, "file_write_failure");
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

function bytesOf(content: string | Uint8Array | null): Buffer | null {
  return content === null ? null : Buffer.from(content);
}

function blocksOf({ given: { path, to }, change: { before, after } }: Planned): readonly string[] {
  const shown = to === undefined ? path : `${path} → ${to}`;
  if (!isText(before) || !isText(after)) return [`${shown}\n  ${sizeOf(before)} become ${sizeOf(after)}`];
  const blocks = changeBlocks(shown, lineChanges(textOf(before), textOf(after)));
  return blocks.length > 0 ? blocks : [shown];
}

function isText(bytes: Uint8Array | null): boolean {
  return bytes === null || (bytes.length <= MAX_TEXT && !isBinary(bytes));
}

function textOf(bytes: Uint8Array | null): string {
  return bytes === null ? "" : Buffer.from(bytes).toString("utf8");
}

function sizeOf(bytes: Uint8Array | null): string {
  return bytes === null ? "no bytes" : `${bytes.length} bytes`;
}
