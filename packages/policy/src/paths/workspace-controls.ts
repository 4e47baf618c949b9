import { type Dirent, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isControlName } from "./control-files.ts";
import { foldPath } from "./fold.ts";
import { readRegularFile } from "./read-regular-file.ts";
import { isInside, resolvePath } from "./resolve.ts";

/** Control files of a workspace at one moment, by absolute path. A link has its target as value, a repository `REPOSITORY`, everything else `""`. */
export type WorkspaceControls = ReadonlyMap<string, string>;

/** Where to look for control files, and how to recognize them. */
export type ControlSearch = {
  readonly workspace: string;
  /** On the way from the workspace to this directory, `isControl` decides. Elsewhere the name does, which is faster. */
  readonly cwd: string;
  readonly isControl: (path: string) => boolean;
};

/** Cannot be the target of a link. */
const REPOSITORY = "\0repository";

/** Parts of a repository that name programs to run. The address of a remote can name one, too. The rest must stay writable for commits. */
const IN_REPOSITORY = ["hooks", "config", "config.worktree", "commondir", "info/attributes", "remotes", "branches"];

/** Directories of a repository that contain no other repository. */
const PLAIN_IN_REPOSITORY: ReadonlySet<string> = new Set(["hooks", "objects", "refs", "logs", "info"]);

/** Packages bring such files, and no program reads them there. */
const SKIPPED = "node_modules";

/** Finds control files everywhere in the workspace, except in `node_modules`. */
export function findWorkspaceControls(search: ControlSearch): WorkspaceControls {
  const found = new Map<string, string>();
  walk(search, search.workspace, found);
  return found;
}

function walk(search: ControlSearch, directory: string, found: Map<string, string>): void {
  const entries = entriesOf(directory);
  const isOnTheWay = isInside(directory, search.cwd);
  const last = directory.slice(directory.lastIndexOf("/"));
  if (["HEAD", "objects", "refs"].every((part) => entries.some(({ name }) => name === part))) noteRepository(search, directory, found);
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.name === ".git" && entry.isDirectory()) {
      found.set(path, REPOSITORY);
      noteRepository(search, path, found);
    } else if (entry.name === ".assent" || isControlName(foldPath(`${last}/${entry.name}`)) || (isOnTheWay && search.isControl(path)))
      note(found, path);
    else if (entry.isDirectory() && entry.name !== SKIPPED) walk(search, path, found);
  }
}

/** Existing control files to mount read-only: links count as what they lead to in the workspace. */
export function listReadOnlyControls(controls: WorkspaceControls, workspace: string): readonly string[] {
  const paths = [...controls].flatMap(([path, target]) => {
    if (target === REPOSITORY) return [];
    if (target === "") return [path];
    const { real } = resolvePath(path, "/");
    return real !== null && real !== workspace && isInside(workspace, real) ? [real] : [];
  });
  return [...new Set(paths)];
}

/** Control files that appeared or whose link leads elsewhere, without what is inside of another one. */
export function findNewControls(before: WorkspaceControls, after: WorkspaceControls): readonly string[] {
  const paths = [...after].flatMap(([path, target]) => (before.get(path) === target ? [] : [path]));
  return paths.filter((path) => !paths.some((other) => other !== path && isInside(other, path)));
}

/** Notes what runs code in a repository, in the repositories of its submodules and in its worktrees. */
function noteRepository(search: ControlSearch, repository: string, found: Map<string, string>): void {
  for (const part of IN_REPOSITORY) note(found, join(repository, part));
  for (const path of namedInConfig(repository)) if (isInside(search.workspace, path) && path !== search.workspace) note(found, path);
  for (const kind of ["modules", "worktrees"]) noteNested(search, join(repository, kind), found);
}

/** Names of submodules contain slashes, and a directory that looks like a repository may contain others. */
function noteNested(search: ControlSearch, directory: string, found: Map<string, string>): void {
  for (const entry of entriesOf(directory)) {
    const path = join(directory, entry.name);
    if (!entry.isDirectory() || PLAIN_IN_REPOSITORY.has(entry.name)) continue;
    noteRepository(search, path, found);
    noteNested(search, path, found);
  }
}

/** Directories of hooks and further configuration that a repository's configuration names. */
function namedInConfig(repository: string): readonly string[] {
  let text: string;
  try {
    text = String(readRegularFile(join(repository, "config")));
  } catch {
    return []; // git reads none, either
  }
  return [...text.matchAll(/^\s*(hookspath|path)\s*=\s*"?([^"\n]+?)"?\s*$/gim)].map(([, key = "", value = ""]) =>
    resolve(key.toLowerCase() === "path" ? repository : dirname(repository), value),
  );
}

function note(found: Map<string, string>, path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats) found.set(path, stats.isSymbolicLink() ? readlinkSync(path) : "");
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return []; // missing or not a directory
  }
}
