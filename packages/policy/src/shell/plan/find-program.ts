import { accessSync, constants, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { isInside, resolvePath } from "../../paths/resolve.ts";

/** Where programs of allowed commands are looked up by default. */
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
};

/** Where to look. No program is taken from the workspace. */
export type ProgramPlaces = {
  readonly path: readonly string[];
  readonly workspace: string;
  readonly nodeDirectory?: string;
};

/** These come with the running Node. */
const BESIDE_NODE: readonly string[] = ["node", "npm"];

/** Finds the program for a command's name. Skips relative directories and anything that leads into the workspace, where a model could place a program. An absolute name is that file; other names with a slash are nothing. */
export function findProgram(
  name: string,
  { path, workspace, nodeDirectory = dirname(process.execPath) }: ProgramPlaces,
): FoundProgram | undefined {
  if (name === "" || name.includes("\0")) return undefined;
  if (name.includes("/")) return isAbsolute(name) ? programAt(name) : undefined;
  const directories = BESIDE_NODE.includes(name) ? [...path, nodeDirectory] : path;
  for (const directory of programDirectories({ path: directories, workspace })) {
    const file = join(directory, name);
    const found = leadsInside(workspace, file) ? undefined : programAt(file);
    if (found) return found;
  }
  return undefined;
}

/** The directories of a search path from which programs may be taken. */
export function programDirectories({ path, workspace }: Omit<ProgramPlaces, "nodeDirectory">): readonly string[] {
  return path.filter((directory) => isAbsolute(directory) && !directory.includes(":") && !leadsInside(workspace, directory));
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

function programAt(file: string): FoundProgram | undefined {
  try {
    accessSync(file, constants.X_OK);
    const stat = statSync(file);
    return stat.isFile()
      ? { file, dev: stat.dev, ino: stat.ino, size: stat.size, mtimeMs: stat.mtimeMs, ctimeMs: stat.ctimeMs }
      : undefined;
  } catch {
    return undefined; // the next directory may have one
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
