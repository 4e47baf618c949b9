import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { CONTROL_TREES } from "./control-files.ts";
import { isInside, resolvePath } from "./resolve.ts";

/** Control files of a workspace at one moment, by absolute path. A link has its target as value, everything else `""`. */
export type WorkspaceControls = ReadonlyMap<string, string>;

/** Where to look for control files, and how to recognize them. */
export type ControlSearch = {
  readonly workspace: string;
  /** Control files are also looked for on the way from the workspace to this directory. */
  readonly cwd: string;
  readonly isControl: (path: string) => boolean;
};

/** Parts of a repository that name programs to run. The rest must stay writable for commits. */
const IN_REPOSITORY = ["hooks", "config", "config.worktree", "commondir", "info/attributes"];

/** Control files below a directory that itself is none. */
const NESTED = CONTROL_TREES.filter((tree) => tree.includes("/"));

const MAX_SUBMODULES = 100;

/** Finds control files in the workspace's directory, and in each directory from there to `cwd`. */
export function findWorkspaceControls({ workspace, cwd, isControl }: ControlSearch): WorkspaceControls {
  const names = isInside(workspace, cwd) ? relative(workspace, cwd).split("/").filter(Boolean) : [];
  const directories = [workspace, ...names.map((_, at) => join(workspace, ...names.slice(0, at + 1)))];
  const found = new Map<string, string>();
  for (const directory of directories) {
    const there = namesIn(directory).filter((name) => name === ".assent" || isControl(join(directory, name)));
    for (const name of [...there, ...NESTED]) for (const path of controlPartsOf(directory, name)) note(found, path);
  }
  return found;
}

/** Existing control files to mount read-only: links count as what they lead to in the workspace. */
export function listReadOnlyControls(controls: WorkspaceControls, workspace: string): readonly string[] {
  const paths = [...controls].flatMap(([path, target]) => {
    if (target === "") return [path];
    const { real } = resolvePath(path, "/");
    return real !== null && real !== workspace && isInside(workspace, real) ? [real] : [];
  });
  return [...new Set(paths)];
}

/** Control files that appeared or whose link leads elsewhere. */
export function findNewControls(before: WorkspaceControls, after: WorkspaceControls): readonly string[] {
  return [...after].flatMap(([path, target]) => (before.get(path) === target ? [] : [path]));
}

function controlPartsOf(directory: string, name: string): readonly string[] {
  const path = join(directory, name);
  if (name !== ".git" || lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  const modules = namesIn(join(path, "modules")).slice(0, MAX_SUBMODULES);
  return [path, ...modules.map((module) => join(path, "modules", module))].flatMap((repository) =>
    IN_REPOSITORY.map((part) => join(repository, part)),
  );
}

function note(found: Map<string, string>, path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats) found.set(path, stats.isSymbolicLink() ? readlinkSync(path) : "");
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // missing or not a directory
  }
}
