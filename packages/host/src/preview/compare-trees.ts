import { createHash } from "node:crypto";
import { chmodSync, closeSync, constants, lstatSync, openSync, readdirSync, readlinkSync, readSync, type Stats } from "node:fs";
import { join } from "node:path";
import { setImmediate as pause } from "node:timers/promises";
import { errorCode } from "@assent/core";

/** What is at a path of one of the two trees. */
export type TreeEntry = {
  readonly kind: "file" | "link" | "directory" | "pipe" | "socket" | "device";
  /** Permission bits, with setuid, setgid and sticky bit. */
  readonly mode: number;
  readonly size: number;
  /** How many names the file has. */
  readonly names: number;
  /** Where a link leads. */
  readonly target?: string;
};

/** A path, relative to the tree, that differs; null means that nothing is there. */
export type TreeDifference = { readonly path: string; readonly before: TreeEntry | null; readonly after: TreeEntry | null };

/** Two trees, and how to tell what changed in either of them. */
export type ComparedTrees = {
  /** The tree as it is. */
  readonly lower: string;
  /** The tree in which a command ran. */
  readonly view: string;
  /** False only if the command cannot have changed what is at this path of the view. */
  readonly isTouched: (path: string, stats: Stats) => boolean;
  /** True if something else changed this path of the lower tree since the command began. */
  readonly isForeign: (stats: Stats) => boolean;
  /** True if a directory of the view was moved there, so that what it contains may be other than before without being touched. */
  readonly isMoved?: (path: string, stats: Stats) => boolean;
  /** The names that may differ in a directory; all if absent. */
  readonly namesIn?: (path: string) => readonly string[] | undefined;
};

export type TreeComparison = {
  readonly differences: readonly TreeDifference[];
  /** Paths that something else changed meanwhile, so that the preview is not about them. */
  readonly foreign: readonly string[];
  /** Paths that the command touched without a difference that can be seen here. */
  readonly same: readonly string[];
  /** Paths whose names are not valid UTF-8, so that nothing can be said about them. */
  readonly unnamed: readonly string[];
  /** There are more differences than the limit. */
  readonly cut: boolean;
};

const PAUSE_EVERY = 2_000;

type ComparedDirectory = {
  readonly lower: boolean;
  readonly view: boolean;
  /** It is new or was moved there: all it contains counts as touched. */
  readonly isNew: boolean;
};

/** Lists every difference between two trees in path order, with a directory before what it contains. */
export async function compareTrees(trees: ComparedTrees, limit: number): Promise<TreeComparison> {
  const differences: TreeDifference[] = [];
  const foreign: string[] = [];
  const unnamed: string[] = [];
  const same: string[] = [];
  let looked = 0;
  const isFull = (): boolean => differences.length >= limit;
  const add = (path: string, before: Stats | undefined, after: Stats | undefined): void => {
    differences.push({ path, before: describe(trees.lower, path, before), after: describe(trees.view, path, after) });
  };
  /** Lists only real directories, because a link may lead out of the tree. */
  const compareDirectory = async (path: string, directory: ComparedDirectory): Promise<void> => {
    const lower = directory.lower ? readdirSync(join(trees.lower, path)) : [];
    const view = new Set(directory.view ? listOwn(join(trees.view, path)) : []);
    const named = (directory.view ? trees.namesIn?.(path) : undefined) ?? view;
    const names = [...named, ...lower.filter((name) => named === view || !view.has(name))];
    for (const name of [...new Set(names)].toSorted()) {
      if (isFull()) return;
      looked += 1;
      if (looked % PAUSE_EVERY === 0) await pause();
      await compareEntry(path === "" ? name : `${path}/${name}`, directory.isNew);
    }
  };
  const compareEntry = async (path: string, isInNew: boolean): Promise<void> => {
    const [before, after] = [statsOf(join(trees.lower, path)), statsOf(join(trees.view, path))];
    if (path.includes("\uFFFD") && !before && !after) unnamed.push(path);
    if (!before && !after) return;
    const isNew = isInNew || (after?.isDirectory() === true && trees.isMoved?.(path, after) === true);
    const isTouched = (stats: Stats): boolean => isNew || trees.isTouched(path, stats);
    if (before && after && before.isDirectory() && after.isDirectory()) {
      if (isTouched(after)) {
        if (modeOf(before) === modeOf(after)) same.push(path);
        else add(path, before, after);
      }
      return await compareDirectory(path, { lower: true, view: true, isNew });
    }
    const isChanged = !after || isTouched(after);
    if (before && trees.isForeign(before) && isChanged) {
      foreign.push(path);
      return;
    }
    if (!isChanged) {
      if (!before) foreign.push(path); // removed from the lower tree meanwhile
      return;
    }
    if (before && after && isSame(trees, path, { before, after })) {
      same.push(path);
      return;
    }
    add(path, before, after);
    await compareDirectory(path, { lower: before?.isDirectory() === true, view: after?.isDirectory() === true, isNew: true });
  };
  const [before, after] = [statsOf(trees.lower), statsOf(trees.view)];
  if (before && after && modeOf(before) !== modeOf(after)) add(TOP, before, after);
  await compareDirectory("", { lower: true, view: true, isNew: false });
  return { differences, foreign, same, unnamed, cut: isFull() };
}

/** The path of the tree itself. */
export const TOP = ".";

function modeOf({ mode }: Stats): number {
  return mode & 0o7777;
}

/** Lists a directory of the view, also if the command shut it. */
function listOwn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (errorCode(error) !== "EACCES") throw error;
    chmodSync(path, 0o700); // its mode is known by now
    return readdirSync(path);
  }
}

function isSame({ lower, view }: ComparedTrees, path: string, { before, after }: { before: Stats; after: Stats }): boolean {
  if ((before.mode & 0o177777) !== (after.mode & 0o177777)) return false;
  if (after.isSymbolicLink()) return readlinkSync(join(lower, path)) === readlinkSync(join(view, path));
  if (!after.isFile()) return true;
  return before.size === after.size && digestOf(join(lower, path)) === digestOf(join(view, path));
}

function describe(tree: string, path: string, stats: Stats | undefined): TreeEntry | null {
  if (!stats) return null;
  const kind = kindOf(stats);
  const target = kind === "link" ? { target: readlinkSync(join(tree, path)) } : {};
  return { kind, mode: modeOf(stats), size: stats.size, names: stats.nlink, ...target };
}

function kindOf(stats: Stats): TreeEntry["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  if (stats.isSymbolicLink()) return "link";
  if (stats.isFIFO()) return "pipe";
  return stats.isSocket() ? "socket" : "device";
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}

const CHUNK = Buffer.allocUnsafe(256 * 1024);

/** SHA-256 (hex) of a regular file, read in pieces. */
export function digestOf(path: string): string {
  const hash = createHash("sha256");
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    for (let bytes = readSync(fd, CHUNK); bytes > 0; bytes = readSync(fd, CHUNK)) hash.update(CHUNK.subarray(0, bytes));
    return hash.digest("hex");
  } finally {
    closeSync(fd);
  }
}
