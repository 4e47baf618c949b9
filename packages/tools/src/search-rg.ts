import { isObject, type Processes } from "@assent/core";
import { isBinary, withRegularFile } from "./file-bytes.ts";
import { PatternFault } from "./search-cursor.ts";
import { type FoundFile, type FoundLine, type Search, type SearchEngine, shownLine } from "./search-lines.ts";

/** Which ripgrep, and how it is started. */
export type Ripgrep = { readonly file: string; readonly processes: Processes };

/** Nothing but these words, the pattern and the files: no configuration, no program that it could start. */
const FIXED = ["--no-config", "--json", "--crlf", "--no-messages", "--no-ignore", "--hidden", "--max-filesize=64M"];
const COMPLAINT_CHARS = 2000;

/** Searches by ripgrep. It is given every file by name, so which files are searched is said by us alone. Throws `PatternFault`. */
export function searchByRipgrep({ file, processes }: Ripgrep): SearchEngine {
  return async function* (search, batches, signal) {
    const run = async (paths: readonly string[]): Promise<Ended> => {
      const output = readOutput(search);
      const args = [...FIXED, ...optionsOf(search), `--regexp=${search.pattern}`, "--", ...paths];
      const { exitCode, signal: killed } = await processes.run({ file, args, cwd: "/", env: {}, onOutput: output.add }, signal);
      signal.throwIfAborted();
      return { found: output.found(), told: output.complaint().trim(), exitCode, killed };
    };
    refuseFaulty(await run(["/dev/null"]));
    for await (const paths of batches) yield await foundIn(await run(paths), search);
  };
}

type Ended = {
  readonly found: readonly FoundFile[];
  /** What it said beside its messages. */
  readonly told: string;
  readonly exitCode: number | null;
  readonly killed: string | null;
};

/** Where there is nothing to search, only the pattern can be at fault; the advice that follows the fault is for other readers. */
function refuseFaulty({ exitCode, told }: Ended): void {
  if (exitCode === 2 && told !== "") throw new PatternFault(told.replace(/^rg: /, "").replace(/\n\n[\s\S]*$/, ""));
}

function optionsOf({ ignoreCase, multiline, context, wanted }: Search): readonly string[] {
  return [
    ignoreCase ? "--ignore-case" : "--case-sensitive",
    ...(multiline ? ["--multiline"] : []),
    ...(wanted === "content" && context > 0 ? [`--context=${context}`] : []),
    ...(wanted === "files" ? ["--max-count=1"] : []),
  ];
}

/** Code 2 also means that some file could not be read. */
async function foundIn({ found, told, exitCode, killed }: Ended, { wanted }: Search): Promise<readonly FoundFile[]> {
  if (exitCode === null || exitCode > 2) throw new Error(`rg ended with ${killed ?? `code ${exitCode}`}: ${told}`);
  const files = inOrder(found);
  if (wanted !== "files") return files;
  const texts = await Promise.all(files.map(({ path }) => isText(path)));
  return files.filter((_, index) => texts[index]);
}

/** With its first match a file is done, before anything is seen that tells it from text. */
async function isText(path: string): Promise<boolean> {
  try {
    return await withRegularFile(path, async ({ handle }) => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(8192), 0, 8192, 0);
      return !isBinary(buffer.subarray(0, bytesRead)) || isUtf16(buffer);
    });
  } catch {
    return false; // it went away meanwhile
  }
}

function isUtf16([first, second]: Buffer): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/** Files are searched side by side. */
function inOrder(files: readonly FoundFile[]): readonly FoundFile[] {
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

type Output = { readonly add: (chunk: string) => void; readonly found: () => readonly FoundFile[]; readonly complaint: () => string };

/** Takes messages as they come, one per line. What is no message is a complaint. */
function readOutput(search: Search): Output {
  const files: FoundFile[] = [];
  const open = new Map<string, { count: number; lines: FoundLine[] }>();
  let rest: string[] = [];
  let complaint = "";
  const complain = (line: string): void => {
    complaint = `${complaint}${line}\n`.slice(0, COMPLAINT_CHARS);
  };
  const take = (message: Message): void => {
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
        const message = parsed(line);
        if (message) take(message);
        else complain(line);
        rest = [next];
      }
    },
    found: () => files,
    complaint: () => complaint + rest.join(""),
  };
}

type Message = {
  readonly type: string;
  readonly path: string;
  readonly text: string;
  readonly number: number;
  readonly isBinary: boolean;
};

/** Undefined: no message of ripgrep. */
function parsed(line: string): Message | undefined {
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
    path: textIn(path),
    text: textIn(lines),
    number: typeof number === "number" ? number : 0,
    isBinary: typeof binary === "number",
  };
}

/** Bytes that are no text come in base64. */
function textIn(value: unknown): string {
  if (!isObject(value)) return "";
  const { text, bytes } = value;
  if (typeof text === "string") return text;
  return typeof bytes === "string" ? Buffer.from(bytes, "base64").toString("utf8") : "";
}

/** Messages that tell no lines add none. */
function addLines(file: { count: number; lines: FoundLine[] }, { type, text, number }: Message, { wanted, keep }: Search): void {
  const isMatch = type === "match";
  if (!isMatch && type !== "context") return;
  for (const [index, line] of text.replace(/\n$/, "").split("\n").entries()) {
    if (isMatch) file.count++;
    if (wanted === "content" && file.count <= keep) file.lines.push({ number: number + index, text: shownLine(line), isMatch });
  }
}
