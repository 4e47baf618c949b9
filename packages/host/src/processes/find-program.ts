import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** Finds a program on PATH, ignoring relative entries, which could point into a workspace. */
export function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((directory) => join(directory, name))
    .find(isExecutable);
}

/** True for a file that this user may run. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch (_absent) {
    return false;
  }
}
