import { readFileSync, statSync } from "node:fs";

/** Null if there is no such file. */
export function readText(path: string): string | null {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : null;
}
