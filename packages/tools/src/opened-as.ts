import { fstatSync, lstatSync, readlinkSync, realpathSync } from "node:fs";

/**
 * Whether an open file is the one that this real path names, with no link on the way. Linux says where an open file is; elsewhere the path is looked at again.
 * A file that was moved or replaced since it was opened is not.
 */
export function isOpenedAs(fd: number, path: string): boolean {
  try {
    if (process.platform === "linux") return readlinkSync(`/proc/self/fd/${fd}`) === path;
    const [opened, named] = [fstatSync(fd), lstatSync(path)];
    return opened.dev === named.dev && opened.ino === named.ino && realpathSync(path) === path;
  } catch {
    return false; // nobody can tell
  }
}
