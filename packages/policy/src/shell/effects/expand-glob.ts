import { lstatSync, readdirSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { PathLookup } from "../../paths/lookup.ts";
import { isAbsent } from "../../paths/resolve.ts";
import type { Hazard, HazardId } from "../plan/plan.ts";
import { PROGRAMS } from "../programs/table.ts";
import type { PlainWord } from "../read/strict-reader.ts";

const MOST_RESULTS = 1000;
const MOST_ENTRIES = 20_000;

export type GlobPlace = { readonly cwd: string; readonly look: PathLookup };

type ExpandedWord = { readonly words: readonly string[] } | { readonly refused: Hazard };

/** Expands the patterns of a plain command as bash would, in byte order. A pattern without a match stays as it is. */
export function expandGlobs(
  words: readonly PlainWord[],
  place: GlobPlace,
): { readonly argv: readonly string[] } | { readonly refused: Hazard } {
  const name = words[0]?.text ?? "";
  const argv: string[] = [];
  if (!expandsGlobs(name) && words.some(({ glob }) => glob)) return refuse("brace_or_glob", `Assent doesn't expand patterns for ${name}`);
  for (const { text, glob } of words) {
    const expanded: ExpandedWord = glob ? expandPattern(text, place) : { words: [text] };
    if ("refused" in expanded) return expanded;
    argv.push(...expanded.words);
    if (argv.length > MOST_RESULTS) return refuse("brace_or_glob", `A pattern expands to more than ${MOST_RESULTS} words`);
  }
  return { argv };
}

/** Every file that matches is checked like a written one, so any described program may get them. */
function expandsGlobs(name: string): boolean {
  return name !== "cd" && PROGRAMS.get(name)?.reads !== undefined;
}

function refuse(id: HazardId, text: string): { readonly refused: Hazard } {
  return { refused: { id, text } };
}

function expandPattern(pattern: string, place: GlobPlace): ExpandedWord {
  const parts = pattern.split("/");
  const first = parts.findIndex((part) => /[*?]/.test(part));
  if (parts.slice(first, -1).includes("")) return refuse("brace_or_glob", `${pattern} has an empty name in it`);
  let found: readonly string[] | undefined = [
    parts
      .slice(0, first)
      .map((part) => `${part}/`)
      .join(""),
  ];
  for (const [i, part] of parts.slice(first).entries())
    found = found && expandPart(i === 0 ? found : found.map((one) => `${one}/`), part, place);
  if (found === undefined) return refuse("outside_workspace", `${pattern} matches too many files, or leads outside the workspace`);
  if (found.some((name) => name.startsWith("-"))) return refuse("brace_or_glob", `${pattern} matches a name that looks like an option`);
  return { words: found.length === 0 ? [pattern] : found.toSorted(byBytes) };
}

/** Undefined: too many, or not allowed to list. */
function expandPart(directories: readonly string[], part: string, place: GlobPlace): readonly string[] | undefined {
  const found: string[] = [];
  for (const directory of directories) {
    const names = namesIn(directory, part, place);
    if (names === undefined || found.length + names.length > MOST_RESULTS) return undefined;
    found.push(...names.map((name) => `${directory}${name}`));
  }
  return found;
}

function namesIn(directory: string, part: string, { cwd, look }: GlobPlace): readonly string[] | undefined {
  const path = resolve(cwd, directory);
  if (!/[*?]/.test(part)) return isThere(path, part) ? [part] : [];
  if (!look(path, "/").inside) return undefined;
  const names = entries(path);
  return names && names.length <= MOST_ENTRIES ? names.filter((name) => isShown(name, part) && matches(name, part)) : undefined;
}

/** A trailing slash needs a directory before it. */
function isThere(path: string, part: string): boolean {
  try {
    return part === "" ? statSync(path).isDirectory() : lstatSync(`${path}/${part}`) !== undefined;
  } catch {
    return false;
  }
}

function entries(path: string): readonly string[] | undefined {
  try {
    return readdirSync(path);
  } catch (error) {
    return isAbsent(error) ? [] : undefined;
  }
}

function isShown(name: string, part: string): boolean {
  return !name.startsWith(".") || part.startsWith(".");
}

/** Compares names as bash does, without the Unicode normalization of core's globs. Backtracks only to the last star. */
function matches(name: string, pattern: string): boolean {
  const characters = [...name];
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let i = 0; i < characters.length; ) {
    if (pattern[at] === "*") {
      star = at++;
      resume = i;
    } else if (pattern[at] === "?" || pattern[at] === characters[i]) {
      at++;
      i++;
    } else if (star < 0) return false;
    else {
      at = star + 1;
      i = ++resume;
    }
  }
  return /^\**$/.test(pattern.slice(at));
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
