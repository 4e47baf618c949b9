import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { visible } from "@assent/core";
import type { AutocompleteItem, AutocompleteProvider } from "@earendil-works/pi-tui";

export type IdKind = "approvals" | "grants" | "prompts" | "proposals" | "resources" | "sessions" | "tasks" | "tools" | "undoable";

export type CompletedId = { readonly id: string; readonly says: string };

export type CompletedCommand = {
  readonly name: string;
  readonly says: string;
  readonly takes?: readonly string[];
  /** The kind of id expected after each word; "" means right after the command. */
  readonly ids?: Readonly<Record<string, IdKind>>;
};

export type CompletionParts = {
  readonly commands: readonly CompletedCommand[];
  readonly cwd: string;
  readonly ids: (kind: IdKind) => Promise<readonly CompletedId[]>;
};

/** Completes `@file`, `@server:uri`, `/command`, prompts of MCP servers, and with Tab the ids a command takes. */
export function promptCompletion({ commands, cwd, ids }: CompletionParts): AutocompleteProvider {
  return {
    triggerCharacters: ["@", "/"],
    shouldTriggerFileCompletion: (lines, line, column) =>
      atWord(lines[line] ?? "", column) !== undefined || (line === 0 && (lines[0] ?? "").startsWith("/")),
    getSuggestions: async (...given) => {
      const [lines, line, column, { signal, force }] = given;
      const text = (lines[line] ?? "").slice(0, column);
      const named = atWord(text, column);
      if (named !== undefined)
        return suggestions(`@${named}`, [
          ...(await fileItems(cwd, named, signal)),
          ...(await serverItems(ids("resources"), (id) => id.includes(named))),
        ]);
      if (line !== 0 || !text.startsWith("/")) return null;
      const prompts = /\s/.test(text) ? [] : await serverItems(ids("prompts"), (id) => id.startsWith(text));
      const words = [...commandItems(commands, text), ...prompts];
      return suggestions(text, force && words.length === 0 ? await idItems({ commands, ids }, text) : words);
    },
    applyCompletion: (...given) => {
      const [lines, line, column, { value }, prefix] = given;
      const text = lines[line] ?? "";
      // Keys that arrive together can be handled before the suggestions follow them.
      if (!text.slice(0, column).endsWith(prefix)) return { lines, cursorLine: line, cursorCol: column };
      const before = text.slice(0, column - prefix.length) + value;
      return { lines: lines.with(line, before + text.slice(column)), cursorLine: line, cursorCol: before.length };
    },
  };
}

function suggestions(prefix: string, items: AutocompleteItem[]): { items: AutocompleteItem[]; prefix: string } | null {
  return items.length === 0 ? null : { items, prefix };
}

function atWord(line: string, column: number): string | undefined {
  return /(?:^|\s)@(\S*)$/.exec(line.slice(0, column))?.[1];
}

async function serverItems(listing: Promise<readonly CompletedId[]>, fits: (id: string) => boolean): Promise<AutocompleteItem[]> {
  const there = (await listing.catch(() => [])).filter(({ id }) => fits(id)).slice(0, MOST_SHOWN);
  return there.map(({ id, says }) => ({ value: `${id} `, label: id, ...(says !== "" && { description: says }) }));
}

/** Commands that match, or the words that may follow one. */
export function commandItems(commands: readonly CompletedCommand[], text: string): AutocompleteItem[] {
  const [, name = "", rest] = /^\/(\S*)(?:\s+(.*))?$/.exec(text) ?? [];
  if (rest === undefined)
    return commands
      .filter((command) => command.name.startsWith(name))
      .map(({ name: value, says }) => ({ value: `/${value} `, label: `/${value}`, description: says }));
  const takes = commands.find((command) => command.name === name)?.takes ?? [];
  return takes.filter((word) => word.startsWith(rest) && word !== rest).map((word) => ({ value: `/${name} ${word}`, label: word }));
}

/** Ids that match the end of the line. Only Tab asks for them, so Enter never picks one by accident. */
export async function idItems({ commands, ids }: Omit<CompletionParts, "cwd">, text: string): Promise<AutocompleteItem[]> {
  const [, name = "", word = "", typed = ""] = /^\/(\S+)\s+(?:([a-z]+)\s+)?(\S*)$/.exec(text) ?? [];
  const kind = commands.find((command) => command.name === name)?.ids?.[word];
  if (kind === undefined) return [];
  const before = text.slice(0, text.length - typed.length);
  const there = (await ids(kind).catch(() => [])).filter(({ id }) => id.startsWith(typed) && id !== typed);
  return there.map(({ id, says }) => ({ value: `${before}${id}`, label: id, ...(says !== "" && { description: says }) }));
}

const MOST_SEEN = 4_000;
const MOST_SHOWN = 30;
const NEVER: readonly string[] = [".git", "node_modules"];

/** Files whose path contains the typed text, nearest first. The search is bounded. */
export async function fileItems(cwd: string, typed: string, signal: AbortSignal): Promise<AutocompleteItem[]> {
  const wanted = typed.toLowerCase();
  const hidden = typed.includes(".");
  const found: string[] = [];
  const todo = [""];
  let seen = 0;
  for (let directory = todo.shift(); directory !== undefined && seen < MOST_SEEN && !signal.aborted; directory = todo.shift()) {
    const { files, directories } = await listDirectory(cwd, directory, hidden);
    seen += files.length + directories.length;
    todo.push(...directories);
    found.push(...files.filter((path) => path.toLowerCase().includes(wanted)));
  }
  const starts = (path: string): number => (path.toLowerCase().startsWith(wanted) ? 0 : 1);
  return found
    .sort((a, b) => starts(a) - starts(b))
    .slice(0, MOST_SHOWN)
    .map((path) => ({ value: `@${path} `, label: path }));
}

type DirectoryListing = { readonly files: readonly string[]; readonly directories: readonly string[] };

async function listDirectory(cwd: string, directory: string, hidden: boolean): Promise<DirectoryListing> {
  const entries = await readdir(join(cwd, directory), { withFileTypes: true }).catch(() => []);
  const wanted = entries
    .filter(({ name }) => !NEVER.includes(name) && (hidden || !name.startsWith(".")) && visible(name) === name && !/\s/.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const path = (name: string): string => (directory === "" ? name : `${directory}/${name}`);
  return {
    files: wanted.filter((entry) => entry.isFile()).map(({ name }) => path(name)),
    directories: wanted.filter((entry) => entry.isDirectory()).map(({ name }) => path(name)),
  };
}
