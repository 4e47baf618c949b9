import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { errorCode, ToolError } from "@assent/core";
import type { PathLookup } from "@assent/policy";
import type { Hides } from "../files/hidden-files.ts";
import { compilePathGlob, expandBraces, isGlob } from "../files/path-glob.ts";
import { walkFiles } from "../files/walk.ts";
import { type Language, languageOf } from "./languages.ts";

export type Target = {
  /** Absolute, spelled as the caller would. */
  readonly path: string;
  readonly realPath: string;
  readonly language: Language;
  /** True if the caller named the file itself. */
  readonly named: boolean;
};

export type Targets = {
  readonly files: readonly Target[];
  readonly unsupported: number;
  /** Named files without a grammar. */
  readonly unsupportedNames: readonly string[];
  readonly empty: readonly string[];
  readonly hidden: number;
  /** True if there are too many files; the list is then incomplete. */
  readonly limitReached: boolean;
};

export type TargetSearch = {
  readonly workspace: string;
  readonly scope: PathLookup;
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly maxFiles: number;
  readonly languageFor?: (path: string, named: boolean) => Language | undefined;
  readonly hides?: Hides;
};

/** Finds the files that paths stand for: files, directories and globs, each real file once. Throws `ToolError` if a path does not exist. */
export async function findTargets(paths: readonly string[], search: TargetSearch): Promise<Targets> {
  const gathered: GatheredTargets = { files: new Map(), seen: new Set(), hidden: new Set(), unsupportedNames: [], empty: [] };
  let limitReached = false;
  for (const given of paths) {
    const count = await gatherTargets(gathered, given, search);
    if (count === 0 && isGlob(given)) gathered.empty.push(given);
    limitReached = gathered.files.size > search.maxFiles;
    if (limitReached) break;
  }
  const { files, seen, hidden, unsupportedNames, empty } = gathered;
  const sorted = [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files: sorted, unsupported: seen.size - files.size, unsupportedNames, empty, hidden: hidden.size, limitReached };
}

type GatheredTargets = {
  readonly files: Map<string, Target>;
  readonly seen: Set<string>;
  readonly hidden: Set<string>;
  readonly unsupportedNames: string[];
  readonly empty: string[];
};

/** Stops counting once there are too many files. */
async function gatherTargets(gathered: GatheredTargets, given: string, search: TargetSearch): Promise<number> {
  let count = 0;
  for await (const found of listFiles(given, search)) {
    count++;
    addTarget(gathered, { ...found, given }, search);
    if (gathered.files.size > search.maxFiles) break;
  }
  return count;
}

/** A file that was also named counts as named. */
function addTarget(
  { files, seen, hidden, unsupportedNames }: GatheredTargets,
  found: TargetFile & { readonly given: string },
  search: TargetSearch,
): void {
  const { path, realPath, named, given } = found;
  const { languageFor = languageOf, hides } = search;
  const language = languageFor(path, named);
  if (language && hides?.(path)) {
    hidden.add(realPath);
    return;
  }
  const known = files.get(realPath);
  if (language) files.set(realPath, { path: known?.path ?? path, realPath, language, named: named || known?.named === true });
  else if (named && !seen.has(realPath)) unsupportedNames.push(given);
  seen.add(realPath);
}

type TargetFile = { readonly path: string; readonly realPath: string; readonly named: boolean };

async function* listFiles(given: string, search: TargetSearch): AsyncGenerator<TargetFile> {
  const { absolute, real } = search.scope(given, search.cwd);
  const stats = real === null ? undefined : await statsOf(real);
  if (real === null || !stats) {
    if (real === null || !isGlob(given)) throw new ToolError(`Path not found: ${given}`, "file_not_found");
    yield* walkGlob(absolute, real, search);
  } else if (stats.isDirectory()) yield* walkTargets(absolute, real, search);
  else if (stats.isFile()) yield { path: absolute, realPath: real, named: true };
  else throw new ToolError(`${given} is not a regular file.`, "target_not_regular_file");
}

async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}

async function* walkTargets(directory: string, real: string, { workspace, signal }: TargetSearch): AsyncGenerator<TargetFile> {
  if (isNeverSearched(workspace, real)) return;
  for await (const path of walkFiles(real, { signal, hidden: true, top: workspace }))
    yield { path: join(directory, path.slice(real.length)), realPath: path, named: false };
}

/** Walks below the real directory that was checked, so a link cannot redirect the glob. */
async function* walkGlob(absolute: string, realGlob: string, search: TargetSearch): AsyncGenerator<TargetFile> {
  const { base, glob } = await splitGlob(absolute);
  if (!realGlob.endsWith(`/${glob}`)) return;
  const real = realGlob.slice(0, -glob.length - 1) || "/";
  if (!(await statsOf(real))?.isDirectory()) return;
  const tests = expandBraces(glob).map(compilePathGlob);
  for await (const file of walkTargets(base, real, search)) {
    const below = file.path.slice(base === "/" ? 1 : base.length + 1).split("/");
    if (tests.some((matches) => matches(below))) yield file;
  }
}

/** A directory whose name looks like a glob is that directory. */
async function splitGlob(absolute: string): Promise<{ readonly base: string; readonly glob: string }> {
  const names = absolute.split("/");
  for (const [index, name] of names.entries()) {
    const isDirectory = isGlob(name) && (await statsOf(names.slice(0, index + 1).join("/")))?.isDirectory() === true;
    if (isGlob(name) && !isDirectory) return { base: names.slice(0, index).join("/") || "/", glob: names.slice(index).join("/") };
  }
  return { base: absolute, glob: "**" };
}

function isNeverSearched(workspace: string, real: string): boolean {
  return relative(workspace, real)
    .split("/")
    .some((name) => name === ".git" || name === "node_modules");
}
