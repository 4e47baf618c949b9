import { closeSync, openSync, readlinkSync, readSync } from "node:fs";
import { isObject, type Processes } from "@assent/core";
import { isBinary } from "../files/file-bytes.ts";
import { type OpenedFile, openRealPath } from "../files/opened-as.ts";
import { searchBuiltIn } from "./built-in.ts";
import { cutLine, type FoundFile, type FoundLine, type Search, type SearchEngine } from "./lines.ts";
import { PatternError } from "./pattern-cursor.ts";

/** Which ripgrep, and how it is started. */
export type Ripgrep = { readonly file: string; readonly processes: Processes };

/** Nothing but these words, the pattern and the files: no configuration, no program that it could start. */
const FIXED = ["--no-config", "--json", "--crlf", "--no-messages", "--no-ignore", "--hidden", "--max-filesize=64M"];
const COMPLAINT_CHARS = 2000;

/**
 * Searches by ripgrep. It is given every file by name, so which files are searched is said by us alone. The files are opened here first, and on Linux ripgrep
 * gets names that lead to these open files: a link that takes the place of one of them leads nowhere. Throws `PatternError`.
 */
export function searchByRipgrep({ file, processes }: Ripgrep): SearchEngine {
  return async function* (search, batches, signal) {
    const run = async (names: readonly string[]): Promise<RipgrepEnd> => {
      const output = readOutput(search);
      const args = [...FIXED, ...makeOptions(search), `--regexp=${search.pattern}`, "--", ...names];
      const { exitCode, signal: killed } = await processes.run({ file, args, cwd: "/", env: {}, onOutput: output.add }, signal);
      signal.throwIfAborted();
      return { found: output.found(), told: output.complaint().trim(), exitCode, killed };
    };
    if (!(await canReadHeld(run))) yield* searchBuiltIn(search, batches, signal);
    else for await (const paths of batches) yield await searchHeld(paths, run, search);
  };
}

type RunRipgrep = (names: readonly string[]) => Promise<RipgrepEnd>;

/** Whether ripgrep may read what this process holds open; not every system lets it. Where there is nothing to find, only the pattern can be at fault. */
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

/** Linux: a path that leads to a file which this process holds open, for programs that it starts. Elsewhere there is none but the file's own. */
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

/** Opens files from a place in the list on, as many as the system lets us, and says where the rest begins. */
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

/** Where processes are numbered otherwise than in /proc, the name may be that of another process. */
function isReached(name: string, path: string): boolean {
  return name === path || readlinkSync(name) === path;
}

type RipgrepEnd = {
  readonly found: readonly FoundFile[];
  /** What it said beside its messages. */
  readonly told: string;
  readonly exitCode: number | null;
  readonly killed: string | null;
};

/** Where there is nothing to search, only the pattern can be at fault; the advice that follows the fault is for other readers. */
function refuseFaulty({ exitCode, told }: RipgrepEnd): void {
  if (exitCode === 2 && told !== "") throw new PatternError(told.replace(/^rg: /, "").replace(/\n\n[\s\S]*$/, ""));
}

function makeOptions({ ignoreCase, multiline, context, wanted }: Search): readonly string[] {
  return [
    ignoreCase ? "--ignore-case" : "--case-sensitive",
    ...(multiline ? ["--multiline"] : []),
    ...(wanted === "content" && context > 0 ? [`--context=${context}`] : []),
    ...(wanted === "files" ? ["--max-count=1"] : []),
  ];
}

/** Code 2 also means that some file could not be read. */
function readFound(
  { found, told, exitCode, killed }: RipgrepEnd,
  held: ReadonlyMap<string, HeldFile>,
  { wanted }: Search,
): readonly FoundFile[] {
  if (exitCode === null || exitCode > 2) throw new Error(`rg ended with ${killed ?? `code ${exitCode}`}: ${told}`);
  const files = found.flatMap((one) => {
    const file = held.get(one.path);
    if (!file || (wanted === "files" && !isText(file))) return [];
    return [{ ...one, path: file.path, ...(file.linked && { linked: file.linked }) }];
  });
  return sortFiles(files);
}

/** With its first match a file is done, before anything is seen that tells it from text. */
function isText({ fd }: HeldFile): boolean {
  const buffer = Buffer.alloc(8192);
  const bytesRead = readSync(fd, buffer, 0, buffer.length, 0);
  return !isBinary(buffer.subarray(0, bytesRead)) || isUtf16(buffer);
}

function isUtf16([first, second]: Buffer): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/** Files are searched side by side. */
function sortFiles(files: readonly FoundFile[]): readonly FoundFile[] {
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

type OutputReader = { readonly add: (chunk: string) => void; readonly found: () => readonly FoundFile[]; readonly complaint: () => string };

/** Takes messages as they come, one per line. What is no message is a complaint. */
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

/** Undefined: no message of ripgrep. */
function parseMessage(line: string): RipgrepMessage | undefined {
  if (!line.startsWith("{")) return undefined;
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return undefined; // something else that begins with a brace
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

/** Bytes that are no text come in base64. */
function readText(value: unknown): string {
  if (!isObject(value)) return "";
  const { text, bytes } = value;
  if (typeof text === "string") return text;
  return typeof bytes === "string" ? Buffer.from(bytes, "base64").toString("utf8") : "";
}

/** Messages that tell no lines add none. */
function addLines(file: { count: number; lines: FoundLine[] }, { type, text, number }: RipgrepMessage, { wanted, keep }: Search): void {
  const isMatch = type === "match";
  if (!isMatch && type !== "context") return;
  for (const [index, line] of text.replace(/\n$/, "").split("\n").entries()) {
    if (isMatch) file.count++;
    if (wanted === "content" && file.count <= keep) file.lines.push({ number: number + index, text: cutLine(line), isMatch });
  }
}
