import { accessSync, closeSync, constants, lstatSync, openSync, readlinkSync, readSync, type Stats, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { foldPath } from "../../paths/fold.ts";
import { isInside, resolvePath } from "../../paths/resolve.ts";

/** Where programs of allowed commands are looked up first. */
export const PROGRAM_PATH: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin"];

/** A program's file, and what identifies it. */
export type FoundProgram = {
  readonly file: string;
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  /** Can't be reset after the file is rewritten in place. */
  readonly ctimeMs: number;
  /** Only the user's `PATH` leads to it. */
  readonly byUserPath?: true;
};

/** Where to look. No program is taken from the workspace. */
export type ProgramPlaces = {
  readonly path: readonly string[];
  /** The user's `PATH`. Its directories come last, and count only if no other user can write to them. */
  readonly userPath?: string | undefined;
  readonly workspace: string;
  readonly nodeDirectory?: string;
};

/** The directories that settings name, or else the system's and the user's. */
export function programPlaces(
  named: readonly string[],
  { userPath, workspace }: Pick<ProgramPlaces, "userPath" | "workspace">,
): ProgramPlaces {
  return named.length > 0 ? { path: named, workspace } : { path: PROGRAM_PATH, userPath, workspace };
}

/** These come with the running Node. */
const BESIDE_NODE: readonly string[] = ["node", "npm"];

/** Finds the program for a command's name. Skips relative directories and anything that leads into the workspace, where a model could place a program. An absolute name is that file; other names with a slash are nothing. */
export function findProgram(name: string, places: ProgramPlaces): FoundProgram | undefined {
  const { path, workspace, nodeDirectory = dirname(process.execPath) } = places;
  if (name === "" || name.includes("\0")) return undefined;
  if (name.includes("/")) return isAbsolute(name) ? programAt(name) : undefined;
  const directories = BESIDE_NODE.includes(name) ? [...path, nodeDirectory] : path;
  for (const directory of usableDirectories(directories, workspace)) {
    const file = join(directory, name);
    const found = leadsInside(workspace, file) ? undefined : programAt(file);
    if (found) return found;
  }
  for (const directory of userDirectories(places)) {
    const file = join(directory, name);
    const real = resolveOwn(file);
    const found = real === undefined || isInside(workspace, real) ? undefined : programAt(file);
    if (found) return { ...found, byUserPath: true };
  }
  return undefined;
}

/** The program of that name that a shell would find by the user's `PATH`, whether or not it may be taken. */
export function findOnUserPath(name: string, { userPath, workspace }: ProgramPlaces): string | undefined {
  if (userPath === undefined || name === "" || /[\0/]/.test(name)) return undefined;
  const files = userPath.split(":").map((directory) => join(resolve(workspace, directory), name));
  return files.find(programAt);
}

/** True for a path of Assent's program. */
export function isAssentProgram(path: string): boolean {
  return /(?:^|\/)assent\.js$|\/@assent\/cli\//.test(foldPath(path));
}

/** The directories from which programs may be taken, in order. */
export function programDirectories(places: ProgramPlaces): readonly string[] {
  return [...new Set([...usableDirectories(places.path, places.workspace), ...userDirectories(places)])];
}

function usableDirectories(path: readonly string[], workspace: string): readonly string[] {
  return path.filter((directory) => isAbsolute(directory) && !directory.includes(":") && !leadsInside(workspace, directory));
}

/** Real paths. npm adds directories of packages for its own scripts; those are not the user's choice. */
function userDirectories({ userPath, workspace }: ProgramPlaces): readonly string[] {
  return (userPath ?? "").split(":").flatMap((directory) => {
    if (!isAbsolute(directory) || leadsInside(workspace, directory)) return [];
    const real = resolveOwn(directory);
    return real === undefined || real.includes("/node_modules/") || isInside(workspace, real) ? [] : [real];
  });
}

const MOST_LINKS = 40;

/** Follows a path link by link. Undefined if another user could change where it leads: by a directory or link of theirs, or one that they can write to. */
function resolveOwn(path: string): string | undefined {
  const waiting = path.split("/").toReversed();
  let at = "/";
  let links = 0;
  try {
    for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
      if (part === "" || part === ".") continue;
      const next = part === ".." ? dirname(at) : join(at, part);
      const stat = lstatSync(next);
      if (stat.isSymbolicLink()) {
        if (!isOwner(stat) || ++links > MOST_LINKS) return undefined;
        const target = readlinkSync(next);
        if (isAbsolute(target)) at = "/";
        waiting.push(...target.split("/").toReversed());
      } else {
        const isLast = waiting.every((one) => one === "" || one === ".");
        if (!isOwn(stat, isLast)) return undefined;
        at = next;
      }
    }
    return at;
  } catch {
    return undefined; // missing or unreadable
  }
}

function isOwner({ uid }: Stats): boolean {
  return uid === 0 || uid === process.getuid?.();
}

const BY_GROUP = 0o020;
const BY_OTHERS = 0o002;
const STICKY = 0o1000;

/** Others can't replace entries of a sticky directory, but can add some. A group with the number of its user is that user's own. */
function isOwn(stat: Stats, isLast: boolean): boolean {
  if (!isOwner(stat)) return false;
  if (!isLast && (stat.mode & STICKY) !== 0) return true;
  return (stat.mode & BY_OTHERS) === 0 && ((stat.mode & BY_GROUP) === 0 || stat.gid === stat.uid);
}

/** Whether a program may be a proxy, which starts what a file of the project names: a link to another program, a shell script, or a shim. */
export function mayBeProxy(name: string, { file, byUserPath }: FoundProgram): boolean {
  const { real } = resolvePath(file, "/");
  if (!real || !basename(real).includes(name)) return true;
  if (!byUserPath) return false;
  const start = readStart(real);
  if (start === undefined) return true;
  const [, interpreter] = /^#!\s*(\S+(?: +\S+)?)/.exec(start) ?? [];
  if (interpreter === undefined) return basename(dirname(real)) === "shims";
  const node = interpreter === "/usr/bin/env node" ? programAt(join(dirname(file), "node")) : undefined;
  return !node || mayBeProxy("node", { ...node, byUserPath });
}

/** Undefined: not readable. */
function readStart(file: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, "r");
    const bytes = Buffer.alloc(80);
    return bytes.toString("latin1", 0, readSync(fd, bytes));
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Whether the file is unchanged, permissions included. */
export function sameProgram(found: FoundProgram): boolean {
  const now = statAt(found.file);
  if (now?.dev !== found.dev || now.ino !== found.ino || now.size !== found.size) return false;
  return now.mtimeMs === found.mtimeMs && now.ctimeMs === found.ctimeMs;
}

function leadsInside(workspace: string, path: string): boolean {
  const { absolute, real } = resolvePath(path, "/");
  return real === null || isInside(workspace, absolute) || isInside(workspace, real);
}

function statAt(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined; // unreadable counts as changed
  }
}

/** The program in this file; undefined if it cannot be started. */
export function programAt(file: string): FoundProgram | undefined {
  try {
    accessSync(file, constants.X_OK);
    const stat = statSync(file);
    return stat.isFile()
      ? { file, dev: stat.dev, ino: stat.ino, size: stat.size, mtimeMs: stat.mtimeMs, ctimeMs: stat.ctimeMs }
      : undefined;
  } catch {
    return undefined;
  }
}

export type ProgramFinder = (name: string) => FoundProgram | undefined;

/** Looks up each program once, then only checks that it is unchanged. */
export function programFinder(places: ProgramPlaces): ProgramFinder {
  const found = new Map<string, FoundProgram>();
  return (name) => {
    const known = found.get(name);
    if (known && sameProgram(known)) return known;
    const now = findProgram(name, places);
    if (now) found.set(name, now);
    return now;
  };
}
