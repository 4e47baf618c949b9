import { readdirSync, readFileSync, statSync } from "node:fs";
import type { ProjectReader } from "@assent/guard";

/** Null if there is no such file. */
export function readText(path: string): string | null {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : null;
}

/** Reads files that may switch the guard off. */
export const PROJECT_READER: ProjectReader = {
  read: (path) => readText(path) ?? undefined,
  list: (path) => (statSync(path, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(path) : []),
};
