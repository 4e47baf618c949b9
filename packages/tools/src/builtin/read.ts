import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import { TextDecoder } from "node:util";
import { type ContentPart, defineTool, errorCode, type RunContext, type Tool, type ToolResult } from "@assent/core";
import type { RegularFile } from "@assent/host";
import type { PathLookup } from "@assent/policy";
import { failure, fileFailure, isResult } from "../failure.ts";
import { isBinary, readPieces, withRegularFile } from "../files/file-bytes.ts";
import { type LinesShown, lineWindow } from "../files/line-window.ts";
import { filePath, pathFault } from "../files/path-input.ts";
import { changedPlaceFailure, type ReadablePlaces, readablePlaces } from "../files/readable-place.ts";
import type { ReadRecord, Reads } from "../files/reads.ts";
import { displayPath } from "../files/shown-path.ts";
import { type InputOf, integer, object, optional } from "../schema/fields.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

const MAX_FILE = 256 * 1024 * 1024;
const MAX_PART = 20_000_000;
const DEFAULT_LIMIT = 2000;
const LINE_CHARS = 2000;
/** The limit for all results of a batch. Longer files are read in pages instead of being cut. */
const TOTAL_CHARS = 200_000;

const FIELDS = {
  file_path: filePath,
  offset: optional(
    integer({ description: "The first line to read, counted from 1. Default 1.", minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  ),
  limit: optional(integer({ description: "Maximum number of lines to read. Default 2000.", minimum: 1, maximum: 10_000 })),
};

type ReadInput = InputOf<typeof FIELDS>;

/** What the read tool needs. */
export type ReadDeps = { readonly workspace: string; readonly scope: PathLookup; readonly reads: Reads };

export const READ: ToolListing = { name: "read", title: "Read", kind: "read", subject: "file_path" };

/** Reads a file. Asks for sensitive files and outside the workspace, except for the session's own output. */
export function readTool(deps: ReadDeps): Tool {
  const places = readablePlaces(deps);
  return defineTool({
    ...listedFields(READ),
    input: object(FIELDS),
    isOutputMarkdown: false,
    maxOutputChars: Number.POSITIVE_INFINITY,
    check: ({ file_path }) => pathFault(file_path),
    describe: ({ file_path }, { cwd }) => `Read ${displayPath(deps.workspace, resolve(cwd, file_path))}`,
    locations: ({ file_path, offset }) => [offset === undefined ? { path: file_path } : { path: file_path, line: offset }],
    permission: (input, { cwd }) => places.judge({ input, path: input.file_path, cwd }),
    run: (input, ctx) => runRead(deps.reads, places, input, ctx),
  });
}

async function runRead(reads: Reads, places: ReadablePlaces, input: ReadInput, ctx: RunContext): Promise<ToolResult> {
  const place = places.open({ input, path: input.file_path, cwd: ctx.cwd });
  if (isResult(place)) return place;
  const { path, shown, isExchanged } = place;
  try {
    const { result, record } = await withRegularFile<ReadOutcome>(path, (file) => {
      if (isExchanged(file.stats)) return Promise.resolve({ result: changedPlaceFailure(shown) });
      return readOpened(file, input, { shown, signal: ctx.signal });
    });
    if (!record) return result;
    await reads.remember(ctx.sessionId, path, record);
    return { ...result, details: { known: [{ path, digest: record.digest }] } };
  } catch (error) {
    ctx.signal.throwIfAborted();
    return fileFailure(error, { shown, otherwise: "read_content_failure" });
  }
}

type ShownFile = { readonly shown: string; readonly signal: AbortSignal };
type ReadOutcome = { readonly result: ToolResult; readonly record?: ReadRecord };

async function readOpened(file: RegularFile, input: ReadInput, naming: ShownFile): Promise<ReadOutcome> {
  const { size } = file.stats;
  if (size > MAX_FILE) return { result: failure("file_too_large", `${naming.shown} has ${size} bytes; at most ${MAX_FILE} can be read.`) };
  const { buffer, bytesRead } = await file.handle.read(Buffer.alloc(8192), 0, 8192, 0);
  const start = buffer.subarray(0, bytesRead);
  const mediaType = detectMediaType(start);
  if (mediaType !== undefined) return readMedia(file, mediaType, naming);
  if (isBinary(start)) return { result: failure("read_content_failure", `${naming.shown} is a binary file.`) };
  return readText(file, input, naming);
}

/** Tries strict UTF-8 first, then replaces invalid bytes. */
async function readText(file: RegularFile, input: ReadInput, naming: ShownFile): Promise<ReadOutcome> {
  try {
    return await readWith(new TextDecoder("utf-8", { fatal: true }), { file, input, naming, note: "" });
  } catch (error) {
    if (errorCode(error) !== "ERR_ENCODING_INVALID_ENCODED_DATA") throw error;
  }
  return readWith(new TextDecoder("utf-8"), { file, input, naming, note: NOT_UTF8 });
}

const NOT_UTF8 = "[not valid UTF-8: invalid bytes are shown as \ufffd]\n";

type ReadAttempt = { readonly file: RegularFile; readonly input: ReadInput; readonly naming: ShownFile; readonly note: string };

async function readWith(decoder: TextDecoder, { file, input, naming: { shown, signal }, note }: ReadAttempt): Promise<ReadOutcome> {
  const { offset = 1, limit = DEFAULT_LIMIT } = input;
  const hash = createHash("sha256");
  const window = lineWindow({ offset, limit, lineChars: LINE_CHARS, totalChars: TOTAL_CHARS });
  for await (const piece of readPieces(file, signal)) {
    hash.update(piece);
    window.add(decoder.decode(piece, { stream: true }));
  }
  window.add(decoder.decode());
  const found = window.end();
  return { result: textResult(found, offset, shown, note), record: { digest: hash.digest("hex") } };
}

function textResult({ lines, last, total }: LinesShown, offset: number, shown: string, note: string): ToolResult {
  if (lines.length === 0) return { content: `The file has ${total} lines.`, display: `${shown} has ${total} lines.` };
  const more = total - last;
  const end = more > 0 ? `\n[${more} more lines; continue with offset ${last + 1}]` : "";
  return { content: note + lines.join("\n") + end, display: `Read lines ${offset} to ${last} of ${total} of ${shown}` };
}

async function readMedia(file: RegularFile, mediaType: string, { shown, signal }: ShownFile): Promise<ReadOutcome> {
  const { size } = file.stats;
  const hash = createHash("sha256");
  const kept: Buffer[] = [];
  for await (const piece of readPieces(file, signal)) {
    hash.update(piece);
    if (size <= MAX_PART) kept.push(Buffer.from(piece));
  }
  const record = { digest: hash.digest("hex") };
  const bytes = Buffer.concat(kept);
  if (size > MAX_PART || bytes.length > MAX_PART)
    return { result: { content: `[${mediaType}, ${size} bytes: too large to show]` }, record };
  const data = bytes.toString("base64");
  const part: ContentPart = mediaType.startsWith("image/")
    ? { type: "image", mediaType, data }
    : { type: "file", mediaType, data, name: basename(shown) };
  return { result: { content: [part], display: `Read ${shown} (${mediaType}, ${bytes.length} bytes)` }, record };
}

const MAGIC: readonly (readonly [mediaType: string, matches: (start: string) => boolean])[] = [
  ["image/png", (start) => start.startsWith("\x89PNG\r\n\x1a\n")],
  ["image/jpeg", (start) => start.startsWith("\xff\xd8\xff")],
  ["image/gif", (start) => start.startsWith("GIF87a") || start.startsWith("GIF89a")],
  ["image/webp", (start) => start.startsWith("RIFF") && start.startsWith("WEBP", 8)],
  ["application/pdf", (start) => start.startsWith("%PDF-")],
];

/** The media type of an image or PDF by its first bytes; undefined otherwise. */
function detectMediaType(start: Uint8Array): string | undefined {
  const text = Buffer.from(start.subarray(0, 16)).toString("latin1");
  return MAGIC.find(([, matches]) => matches(text))?.[0];
}
