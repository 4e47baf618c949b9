import { closeSync, constants, type Dirent, fstatSync, lstatSync, openSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { readdir } from "node:fs/promises";

/**
 * True if an open file is the one at this real path, with no link on the way. Linux reports the path of an open file; other systems
 * look the path up again. False for a file that was moved or replaced after it was opened.
 */
export function isOpenAt(fd: number, path: string): boolean {
  try {
    if (process.platform === "linux") return readlinkSync(ownFdPath(fd)) === path;
    const [opened, named] = [fstatSync(fd), lstatSync(path)];
    return opened.dev === named.dev && opened.ino === named.ino && realpathSync(path) === path;
  } catch {
    return false; // treat the unknown as a mismatch
  }
}

/** Linux only: a path to the open file itself. */
function ownFdPath(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

/** Identifies a file that has other hard links. */
export type LinkedFile = Pick<Stats, "dev" | "ino" | "nlink">;

/** An open file. The caller closes it. */
export type OpenedFile = {
  readonly fd: number;
  readonly size: number;
  /** Set if the file has other hard links, which may be sensitive. */
  readonly linked?: LinkedFile;
};

const READING = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;
const TOO_MANY_OPEN = /^(EMFILE|ENFILE)$/;

/** Opens a regular file by its real path. Undefined if it is gone, unreadable or a link. Throws if too many files are open. */
export function openRealPath(path: string): OpenedFile | undefined {
  let fd: number | undefined;
  let opened: OpenedFile | undefined;
  try {
    fd = openSync(path, READING);
    const stats = fstatSync(fd);
    const { dev, ino, nlink, size } = stats;
    if (stats.isFile() && isOpenAt(fd, path)) opened = { fd, size, ...(nlink > 1 && { linked: { dev, ino, nlink } }) };
  } catch (error) {
    if (error instanceof Error && "code" in error && TOO_MANY_OPEN.test(String(error.code))) throw error;
  }
  if (fd !== undefined && !opened) closeSync(fd);
  return opened;
}

/** The entries of an open directory, and a path to it that survives renaming. */
export type OpenedDirectory = { readonly entries: readonly Dirent[]; readonly at: string };

/** Lists a directory by its real path. Rejects with `ERR_PLACE_CHANGED` if a link leads there. On Linux it stays open. */
export async function listRealPath<T>(path: string, use: (directory: OpenedDirectory) => T | Promise<T>): Promise<T> {
  const fd = openDirectory(path);
  try {
    if (!isOpenAt(fd, path)) throw placeChangedError(path);
    const at = process.platform === "linux" ? ownFdPath(fd) : path;
    const made = await use({ entries: await readdir(at, { withFileTypes: true }), at });
    if (at === path && !isOpenAt(fd, path)) throw placeChangedError(path);
    return made;
  } finally {
    closeSync(fd);
  }
}

function openDirectory(path: string): number {
  try {
    return openSync(path, READING | constants.O_DIRECTORY);
  } catch (error) {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    throw isLink ? placeChangedError(path) : error;
  }
}

export function placeChangedError(path: string): Error {
  return Object.assign(new Error(`${path} is a link now, or is being replaced`), { code: "ERR_PLACE_CHANGED" });
}
