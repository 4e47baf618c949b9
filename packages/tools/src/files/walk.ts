import type { Dirent } from "node:fs";
import { dirname, join } from "node:path";
import { errorCode } from "@assent/core";
import { isInside } from "@assent/policy";
import { withRegularFile } from "./file-bytes.ts";
import { type IgnoreRules, parseIgnoreRules } from "./ignore-rules.ts";
import { listRealPath } from "./opened-as.ts";

export type WalkOptions = {
  readonly signal: AbortSignal;
  /** Include names that start with a dot. */
  readonly hidden?: boolean;
  /** Outside a repository, ignore files above the directory count up to here. Inside one, up to its root. */
  readonly top?: string;
  /** Called for every directory below that cannot be listed. */
  readonly unreadable?: (directory: string) => void;
};

const NEVER = new Set([".git", "node_modules"]);
const MAX_IGNORE_FILE = 1024 * 1024;

/** In order of precedence. */
const IGNORE_FILES = [".ignore", ".gitignore"];

/** Yields the regular files below a real path, sorted. Honors ignore files, follows no links, skips `.git`, `node_modules`. */
export async function* walkFiles(directory: string, options: WalkOptions): AsyncGenerator<string> {
  const entries = await listEntries(directory);
  const above = entries.some(isRepository) ? undefined : await rulesAbove(directory, options.top);
  const todo = await listWanted({ directory, entries, above }, options);
  for (let entry = todo.pop(); entry; entry = todo.pop()) {
    options.signal.throwIfAborted();
    if (isIgnored(entry)) continue;
    if (!entry.isDirectory) yield entry.path;
    else for (const inner of await listBelow(entry, options)) todo.push(inner);
  }
}

/** The rules of a directory and those above it. The nearest one wins. */
type RuleChain = { readonly base: string; readonly rules: readonly IgnoreRules[]; readonly above: RuleChain | undefined };

type ListedDirectory = { readonly directory: string; readonly entries: readonly Dirent[]; readonly above: RuleChain | undefined };

type WalkEntry = { readonly path: string; readonly isDirectory: boolean; readonly order: string; readonly chain: RuleChain | undefined };

/** Entries in reverse order. A directory sorts like its files: `a.ts` comes before `a/b.ts`. */
async function listWanted({ directory, entries, above }: ListedDirectory, { hidden }: WalkOptions): Promise<WalkEntry[]> {
  const chain = await addRules({ directory, entries, above });
  const prefix = asPrefix(directory);
  const kept: WalkEntry[] = [];
  for (const entry of entries) {
    const isDirectory = entry.isDirectory();
    if (!(isDirectory || entry.isFile()) || NEVER.has(entry.name) || (!hidden && entry.name.startsWith("."))) continue;
    kept.push({ path: prefix + entry.name, isDirectory, order: isDirectory ? `${entry.name}/` : entry.name, chain });
  }
  return kept.sort((a, b) => (a.order < b.order ? 1 : -1));
}

async function listBelow({ path, chain }: WalkEntry, options: WalkOptions): Promise<readonly WalkEntry[]> {
  const entries = await tryList(path, options.unreadable);
  return listWanted({ directory: path, entries, above: entries.some(isRepository) ? undefined : chain }, options);
}

/** Skips a directory that cannot be listed or is gone. */
async function tryList(directory: string, unreadable?: WalkOptions["unreadable"]): Promise<readonly Dirent[]> {
  try {
    return await listEntries(directory);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    unreadable?.(directory);
    return [];
  }
}

function listEntries(directory: string): Promise<readonly Dirent[]> {
  return listRealPath(directory, ({ entries }) => entries);
}

function isIgnored({ path, isDirectory, chain }: WalkEntry): boolean {
  for (let at = chain; at; at = at.above) {
    const relative = path.slice(at.base.length);
    for (const rules of at.rules) {
      const ignored = rules(relative, isDirectory);
      if (ignored !== undefined) return ignored;
    }
  }
  return false;
}

async function rulesAbove(directory: string, top: string | undefined): Promise<RuleChain | undefined> {
  const listed: { readonly directory: string; readonly entries: readonly Dirent[] }[] = [];
  let isRoot = false;
  for (let at = dirname(directory), below = directory; at !== below && !isRoot; below = at, at = dirname(at)) {
    const entries = await tryList(at);
    isRoot = entries.some(isRepository);
    listed.push({ directory: at, entries });
  }
  const counted = isRoot ? listed : listed.filter((one) => top !== undefined && isInside(top, one.directory));
  let chain: RuleChain | undefined;
  for (const one of counted.reverse()) chain = await addRules({ ...one, above: chain });
  return chain;
}

function isRepository(entry: Dirent): boolean {
  return entry.name === ".git";
}

async function addRules({ directory, entries, above }: ListedDirectory): Promise<RuleChain | undefined> {
  const present = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
  const names = IGNORE_FILES.filter((name) => present.has(name));
  if (entries.some((entry) => isRepository(entry) && entry.isDirectory())) names.push(".git/info/exclude");
  const texts = await Promise.all(names.map((name) => ignoreText(join(directory, name))));
  const rules = texts.flatMap((text) => (text === undefined ? [] : [parseIgnoreRules(text)]));
  return rules.length > 0 ? { base: asPrefix(directory), rules, above } : above;
}

function asPrefix(directory: string): string {
  return directory.endsWith("/") ? directory : `${directory}/`;
}

/** Undefined if the file is missing or unreadable. */
async function ignoreText(path: string): Promise<string | undefined> {
  try {
    return await withRegularFile(path, async ({ handle, stats }) => (stats.size > MAX_IGNORE_FILE ? undefined : handle.readFile("utf8")));
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined; // an unreadable ignore file ignores nothing
  }
}
