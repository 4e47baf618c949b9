import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode } from "@assent/core";
import { isInside } from "@assent/policy";
import { errorLine, moduleFailure, type ToolFailure } from "./tool-failure.ts";

/** A folder of tool modules and its owner. */
export type ToolFolder = { readonly path: string; readonly level: "user" | "project" };

/** Where a tool comes from. */
export type ToolSource = { readonly file: string; readonly level: ToolFolder["level"] | "explicit" };

export type FoundModule = { readonly source: ToolSource; readonly real: string };

/** Modules to load, in order. Untrusted files are listed but never read. */
export type DiscoveredModules = {
  readonly modules: readonly FoundModule[];
  readonly failed: readonly ToolFailure[];
  readonly untrusted: readonly string[];
};

export type DiscoverOptions = {
  /** User folders come before project folders. */
  readonly folders: readonly ToolFolder[];
  readonly explicit?: readonly string[];
  readonly cwd: string;
  readonly trusted: boolean;
};

/** Finds tool modules: the user's, then the project's, then explicit ones. Each real file counts once. */
export function discoverModules({ folders, explicit = [], cwd, trusted }: DiscoverOptions): DiscoveredModules {
  const found: Discovery = { modules: new Map(), failed: [], untrusted: [] };
  for (const folder of folders) {
    const files = listModules(folder, found);
    if (folder.level === "user" || trusted) for (const file of files) addModule(found, { file, level: folder.level }, folder.path);
    else if (files.length > 0) skipUntrusted(found, folder, files);
  }
  for (const path of explicit) addExplicitModule(found, { file: resolve(cwd, path), level: "explicit" });
  return { ...found, modules: [...found.modules.values()] };
}

type Discovery = { readonly modules: Map<string, FoundModule>; readonly failed: ToolFailure[]; readonly untrusted: string[] };

const ENDINGS = ["ts", "mts", "cts", "js", "mjs", "cjs"] as const;
const INDEXES = ENDINGS.map((ending) => `index.${ending}`);
const MODULE = /\.[mc]?[tj]s$/;
const NO_MODULE = /\.d\.[mc]?ts$/;

function listModules({ path }: ToolFolder, { failed }: Discovery): readonly string[] {
  try {
    return readdirSync(path)
      .filter((name) => !/^[._]/.test(name) && !name.includes(".test."))
      .flatMap((name) => findModuleAt(join(path, name)))
      .sort();
  } catch (error) {
    if (errorCode(error) !== "ENOENT")
      failed.push(moduleFailure({ file: path }, "load_error", `The folder cannot be read: ${errorLine(error)}`));
    return [];
  }
}

/** The file itself, or the index file of a folder. Links are checked later. */
function findModuleAt(path: string): readonly string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return isModule(path) ? [path] : [];
  if (!stats.isDirectory()) return isModule(path) ? [path] : [];
  const index = INDEXES.find((name) => lstatSync(join(path, name), { throwIfNoEntry: false }));
  return index === undefined ? [] : [join(path, index)];
}

function isModule(path: string): boolean {
  return MODULE.test(path) && !NO_MODULE.test(path);
}

function addModule({ modules, failed }: Discovery, source: ToolSource, folder: string): void {
  const real = realPath(source.file);
  if (real === undefined) failed.push(moduleFailure(source, "load_error", "The link is broken"));
  else if (!isInside(realpathSync(folder), real))
    failed.push(moduleFailure(source, "load_error", `The link points outside the folder, to ${real}`));
  else if (!statSync(real).isFile()) failed.push(moduleFailure(source, "load_error", `Not a tool module: ${source.file}`));
  else if (!modules.has(real)) modules.set(real, { source, real });
}

function addExplicitModule({ modules, failed }: Discovery, source: ToolSource): void {
  const real = realPath(source.file);
  if (real === undefined) failed.push(moduleFailure(source, "load_error", `File not found: ${source.file}`));
  else if (!isModule(source.file) || !statSync(real).isFile())
    failed.push(moduleFailure(source, "load_error", `Not a tool module: ${source.file}`));
  else if (!modules.has(real)) modules.set(real, { source, real });
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function skipUntrusted({ failed, untrusted }: Discovery, { path }: ToolFolder, files: readonly string[]): void {
  const shown = `${basename(dirname(path))}/${basename(path)}`;
  const what = files.length === 1 ? "1 custom tool" : `${files.length} custom tools`;
  const reason = `${what} in ${shown} ${files.length === 1 ? "is" : "are"} not loaded: workspace not trusted.`;
  untrusted.push(...files);
  failed.push(moduleFailure({ file: path }, "untrusted", reason));
}
