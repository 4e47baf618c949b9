import { closeSync, openSync, readlinkSync, readSync } from "node:fs";
import { isObject, type Processes } from "@assent/core";
import { isBinary } from "../files/file-bytes.ts";
import { type OpenedFile, openRealPath } from "../files/opened-as.ts";
import { searchBuiltIn } from "./built-in.ts";
import { cutLine, type FoundFile, type FoundLine, type Search, type SearchEngine } from "./lines.ts";
import { PatternError } from "./pattern-cursor.ts";

/** No configuration file and no preprocessor, so ripgrep starts no other program. */
const FIXED = ["--no-config", "--json", "--crlf", "--no-messages", "--no-ignore", "--hidden", "--max-filesize=64M"];
const COMPLAINT_CHARS = 2000;

/**
 * Searches with ripgrep, which gets every file by name, so it never chooses files itself. Files are opened here first; on Linux
 * ripgrep gets the paths of these open files, so a link put in place later has no effect. Throws `PatternError`.
 */
export function searchByRipgrep(file: string, processes: Processes): SearchEngine {
  return async function* (search, batches, signal) {
    const run = async (names: readonly string[]): Promise<RipgrepEnd> => {
      const output = readOutput(search);
      const args = [...FIXED, ...makeOptions(search), `--regexp=${search.pattern}`, "--", ...names];
      const { exitCode, signal: killed } = await processes.run({ file, args, cwd: "/", env: {}, onOutput: output.add }, signal);
      signal.throwIfAborted();
      return { found: output.found(), complaint: output.complaint().trim(), exitCode, killed };
    };
    if (!(await canReadHeld(run))) yield* searchBuiltIn(search, batches, signal);
    else for await (const paths of batches) yield await searchHeld(paths, run, search);
  };
}

type RunRipgrep = (names: readonly string[]) => Promise<RipgrepEnd>;

/** Some systems do not let ripgrep read files that this process holds open. Checks the pattern, too. */
async function canReadHeld(run: RunRipgrep): Promise<boolean> {
  const fd = openSync("/dev/null", "r");
  try {
    const ended = await run([heldPath(fd, "/dev/null")]);
    refuseFaulty(ended);
    return ended.exitCode !== 2;
  } finally {
    closeSync(fd);
  }
}

/** On Linux, a path to a file that this process holds open; elsewhere the file's own path. */
function heldPath(fd: number, path: string): string {
  return process.platform === "linux" ? `/proc/${process.pid}/fd/${fd}` : path;
}

type HeldFile = OpenedFile & { readonly path: string };

async function searchHeld(paths: readonly string[], run: RunRipgrep, search: Search): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];
  for (let from = 0; from < paths.length; ) {
    const held = new Map<string, HeldFile>();
    try {
      from = holdFiles(paths, from, held);
      if (held.size > 0) found.push(...readFound(await run([...held.keys()]), held, search));
    } finally {
      for (const { fd } of held.values()) closeSync(fd);
    }
  }
  return found;
}

/** Opens as many files as the system allows and returns the index of the first one left. */
function holdFiles(paths: readonly string[], from: number, held: Map<string, HeldFile>): number {
  for (const [index, path] of paths.slice(from).entries()) {
    try {
      const file = openRealPath(path);
      if (!file) continue;
      const name = heldPath(file.fd, path);
      if (isReached(name, path)) held.set(name, { ...file, path });
      else closeSync(file.fd);
    } catch (error) {
      if (held.size === 0) throw error;
      return from + index;
    }
  }
  return paths.length;
}

/** In another PID namespace the path could belong to another process. */
function isReached(name: string, path: string): boolean {
  return name === path || readlinkSync(name) === path;
}

type RipgrepEnd = {
  readonly found: readonly FoundFile[];
  /** Output that is not a message. */
  readonly complaint: string;
  readonly exitCode: number | null;
  readonly killed: string | null;
};

/** With nothing to search only the pattern can be wrong. Drops the advice for ripgrep's own users. */
function refuseFaulty({ exitCode, complaint }: RipgrepEnd): void {
  if (exitCode === 2 && complaint !== "") throw new PatternError(complaint.replace(/^rg: /, "").replace(/\n\n[\s\S]*$/, ""));
}

function makeOptions({ ignoreCase, multiline, context, wanted }: Search): readonly string[] {
  return [
    ignoreCase ? "--ignore-case" : "--case-sensitive",
    ...(multiline ? ["--multiline"] : []),
    ...(wanted === "content" && context > 0 ? [`--context=${context}`] : []),
    ...(wanted === "files" ? ["--max-count=1"] : []),
  ];
}

/** Exit code 2 can also mean that a file could not be read. */
function readFound(
  { found, complaint, exitCode, killed }: RipgrepEnd,
  held: ReadonlyMap<string, HeldFile>,
  { wanted }: Search,
): readonly FoundFile[] {
  if (exitCode === null || exitCode > 2) throw new Error(`rg ended with ${killed ?? `code ${exitCode}`}: ${complaint}`);
  const files = found.flatMap((one) => {
    const file = held.get(one.path);
    if (!file || (wanted === "files" && !isText(file))) return [];
    return [{ ...one, path: file.path, ...(file.linked && { linked: file.linked }) }];
  });
  return sortFiles(files);
}

/** With `--max-count=1` ripgrep stops before it notices that a file is binary. */
function isText({ fd }: HeldFile): boolean {
  const buffer = Buffer.alloc(8192);
  const bytesRead = readSync(fd, buffer, 0, buffer.length, 0);
  return !isBinary(buffer.subarray(0, bytesRead)) || isUtf16(buffer);
}

function isUtf16([first, second]: Buffer): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/** ripgrep searches files in parallel. */
function sortFiles(files: readonly FoundFile[]): readonly FoundFile[] {
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

type OutputReader = { readonly add: (chunk: string) => void; readonly found: () => readonly FoundFile[]; readonly complaint: () => string };

/** Reads messages line by line; anything else is a complaint. */
function readOutput(search: Search): OutputReader {
  const files: FoundFile[] = [];
  const open = new Map<string, { count: number; lines: FoundLine[] }>();
  let rest: string[] = [];
  let complaint = "";
  const complain = (line: string): void => {
    complaint = `${complaint}${line}\n`.slice(0, COMPLAINT_CHARS);
  };
  const take = (message: RipgrepMessage): void => {
    const { type, path } = message;
    const file = type === "begin" ? { count: 0, lines: [] } : open.get(path);
    if (type === "begin" && file) open.set(path, file);
    else if (type === "end") open.delete(path);
    else if (file) addLines(file, message, search);
    if (type === "end" && file && file.count > 0 && !message.isBinary) files.push({ path, ...file });
  };
  return {
    add: (chunk) => {
      const [first = "", ...further] = chunk.split("\n");
      rest.push(first);
      for (const next of further) {
        const line = rest.join("");
        const message = parseMessage(line);
        if (message) take(message);
        else complain(line);
        rest = [next];
      }
    },
    found: () => files,
    complaint: () => complaint + rest.join(""),
  };
}

type RipgrepMessage = {
  readonly type: string;
  readonly path: string;
  readonly text: string;
  readonly number: number;
  readonly isBinary: boolean;
};

function parseMessage(line: string): RipgrepMessage | undefined {
  if (!line.startsWith("{")) return undefined;
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return undefined; // not JSON after all
  }
  if (!isObject(message) || typeof message["type"] !== "string" || !isObject(message["data"])) return undefined;
  const { path, lines, line_number: number, binary_offset: binary } = message["data"];
  return {
    type: message["type"],
    path: readText(path),
    text: readText(lines),
    number: typeof number === "number" ? number : 0,
    isBinary: typeof binary === "number",
  };
}

/** Non-UTF-8 text arrives as base64. */
function readText(value: unknown): string {
  if (!isObject(value)) return "";
  const { text, bytes } = value;
  if (typeof text === "string") return text;
  return typeof bytes === "string" ? Buffer.from(bytes, "base64").toString("utf8") : "";
}

function addLines(file: { count: number; lines: FoundLine[] }, { type, text, number }: RipgrepMessage, { wanted, keep }: Search): void {
  const isMatch = type === "match";
  if (!isMatch && type !== "context") return;
  for (const [index, line] of text.replace(/\n$/, "").split("\n").entries()) {
    if (isMatch) file.count++;
    if (wanted === "content" && file.count <= keep) file.lines.push({ number: number + index, text: cutLine(line), isMatch });
  }
}
