import { AgentConfigError } from "../install/hook-config.ts";

/** A table header or a pair of a TOML text, with where it is. */
export type TomlItem = {
  /** The whole path, with that of the table. */
  readonly path: readonly string[];
  readonly isTable: boolean;
  /** From the start of its line to the end of its last line. */
  readonly start: number;
  readonly end: number;
  /** Where the value is; for a header, the header itself. */
  readonly valueStart: number;
  readonly valueEnd: number;
  /** Undefined for values that are not texts, lists or tables of texts. */
  readonly value?: unknown;
};

/** Reads the parts of TOML that locate tables and texts. Throws `AgentConfigError` where it is not sure. */
export function scanToml(text: string): readonly TomlItem[] {
  const items: TomlItem[] = [];
  let table: readonly string[] = [];
  let at = 0;
  while (at < text.length) {
    at = skip(text, at, /[\s]*(?:#[^\n]*\s*)*/y);
    if (at >= text.length) break;
    const start = text.lastIndexOf("\n", at - 1) + 1;
    if (text.slice(start, at).trim() !== "") throw fault(text, at);
    const isTable = text[at] === "[";
    const isList = isTable && text[at + 1] === "[";
    const key = readKey(text, at + (isList ? 2 : isTable ? 1 : 0));
    const after = isTable ? expect(text, key.end, isList ? "]]" : "]") : expect(text, key.end, "=");
    const valueStart = isTable ? at : skip(text, after, /[ \t]*/y);
    const { value, end: valueEnd } = isTable ? { value: undefined, end: after } : readValue(text, valueStart, 0);
    const end = skip(text, valueEnd, /[ \t]*(?:#[^\n]*)?\r?(?:\n|$)/y);
    if (end === valueEnd && end < text.length) throw fault(text, end);
    // A list of tables is not one server; its number keeps it from being taken for one.
    if (isTable) table = isList ? [...key.path, `#${items.length}`] : key.path;
    items.push({ path: isTable ? table : [...table, ...key.path], isTable, start, end, valueStart, valueEnd, value });
    at = end;
  }
  return items;
}

/** A text as TOML. */
export function tomlText(value: string): string {
  return JSON.stringify(value).replaceAll("\u007f", "\\u007F");
}

function fault(text: string, at: number): AgentConfigError {
  const line = text.slice(0, at).split("\n").length;
  return new AgentConfigError(`Assent cannot read line ${line} of this TOML. Fix or simplify it first.`);
}

function skip(text: string, at: number, pattern: RegExp): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}

function expect(text: string, at: number, word: string): number {
  const from = skip(text, at, /[ \t]*/y);
  if (!text.startsWith(word, from)) throw fault(text, from);
  return from + word.length;
}

function readKey(text: string, at: number): { readonly path: readonly string[]; readonly end: number } {
  const path: string[] = [];
  let end = at;
  do {
    const from = skip(text, path.length === 0 ? end : end + 1, /[ \t]*/y);
    const quoted = text[from] === '"' || text[from] === "'" ? readText(text, from) : undefined;
    const bareEnd = skip(text, from, /[\w-]+/y);
    if (!quoted && bareEnd === from) throw fault(text, from);
    path.push(quoted?.value ?? text.slice(from, bareEnd));
    end = skip(text, quoted?.end ?? bareEnd, /[ \t]*/y);
  } while (text[end] === ".");
  return { path, end };
}

type TomlValue = { readonly value: unknown; readonly end: number };

const DEEPEST = 50;

function readValue(text: string, at: number, depth: number): TomlValue {
  if (depth > DEEPEST) throw fault(text, at);
  const first = text[at];
  if (first === '"' || first === "'") return readText(text, at);
  if (first === "[") return readList(text, at, depth);
  if (first === "{") return readInlineTable(text, at, depth);
  const end = skip(text, at, /[^\s,\]}#]+(?: \d[^\s,\]}#]*)?/y); // a date and its time may be apart
  if (end === at) throw fault(text, at);
  return { value: undefined, end };
}

function readText(text: string, at: number): { readonly value: string; readonly end: number } {
  for (const mark of ['"""', "'''"]) {
    if (!text.startsWith(mark, at)) continue;
    const found = /(?<!\\)(?:\\\\)*"""+|'''+/g;
    found.lastIndex = at + 3;
    for (let hit = found.exec(text); hit; hit = found.exec(text))
      if (hit[0].endsWith(mark)) return { value: text.slice(at + 3, hit.index), end: hit.index + hit[0].length };
    throw fault(text, at);
  }
  const isBasic = text[at] === '"';
  const end = skip(text, at, isBasic ? /"(?:[^"\\\n]|\\.)*"/y : /'[^'\n]*'/y);
  if (end === at) throw fault(text, at);
  if (!isBasic) return { value: text.slice(at + 1, end - 1), end };
  try {
    return { value: String(JSON.parse(text.slice(at, end).replaceAll("\t", "\\t"))), end };
  } catch {
    throw fault(text, at);
  }
}

function readList(text: string, at: number, depth: number): TomlValue {
  const value: unknown[] = [];
  let end = at + 1;
  for (;;) {
    end = skip(text, end, /[\s,]*(?:#[^\n]*[\s,]*)*/y);
    if (text[end] === "]") return { value, end: end + 1 };
    const item = readValue(text, end, depth + 1);
    value.push(item.value);
    end = item.end;
  }
}

function readInlineTable(text: string, at: number, depth: number): TomlValue {
  const value: Record<string, unknown> = {};
  let end = at + 1;
  for (;;) {
    end = skip(text, end, /[\s,]*(?:#[^\n]*[\s,]*)*/y);
    if (text[end] === "}") return { value, end: end + 1 };
    const key = readKey(text, end);
    const item = readValue(text, skip(text, expect(text, key.end, "="), /[ \t]*/y), depth + 1);
    Object.defineProperty(value, key.path.join("."), { value: item.value, enumerable: true, configurable: true });
    end = item.end;
  }
}
