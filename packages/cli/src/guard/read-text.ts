import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ProjectPlace, ProjectReader } from "@assent/guard";
import type { Io } from "../io/io.ts";
import { userHome } from "../store/location.ts";

/** Null if there is no such file. */
export function readText(path: string): string | null {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : null;
}

/** Reads files that may switch the guard off. */
export const PROJECT_READER: ProjectReader = {
  read: (path) => readText(path) ?? undefined,
  list: (path) => (statSync(path, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(path) : []),
};

/** Where the user's own configuration is. */
export function userPlaces(env: Io["env"]): Pick<ProjectPlace, "home" | "claudeConfig"> {
  const home = userHome(env);
  return { home, claudeConfig: env["CLAUDE_CONFIG_DIR"] ?? join(home, ".claude") };
}
