import { readdirSync, readFileSync, statSync } from "node:fs";
import type { ProjectFiles } from "@assent/guard";

/** Null if there is no such file. */
export function readText(path: string): string | null {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : null;
}

/** The files of a project that may switch the guard off. */
export const PROJECT_FILES: ProjectFiles = {
  read: (path) => readText(path) ?? undefined,
  list: (path) => (statSync(path, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(path) : []),
};
