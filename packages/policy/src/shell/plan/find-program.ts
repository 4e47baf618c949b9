import { accessSync, constants, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { isInside, resolvePath } from "../../paths/resolve.ts";

/** Where programs of allowed commands are looked up, unless settings name other directories. */
export const PROGRAM_PATH: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin"];

/** A program as it was found: where it is, and what tells it from another file put in its place. */
export type FoundProgram = {
  readonly file: string;
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  /** Cannot be put back by whoever rewrites the file in place. */
  readonly ctimeMs: number;
};

/** Where to look: absolute directories in order, and the workspace, from which no program is ever taken. */
export type ProgramPlaces = {
  readonly path: readonly string[];
  readonly workspace: string;
  /** The directory of the running Node. */
  readonly nodeDirectory?: string;
};

/** These come with the running Node, which need not be where the system's programs are. */
const BESIDE_NODE: readonly string[] = ["node", "npm"];

/**
 * The program that a command's name means. A relative directory, one that leads into the workspace, and a link into the workspace are passed over: whoever writes there
 * would choose what an allowed command runs. An absolute name means that very file; any other name with a slash means nothing.
 */
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

/** Those directories of a search path from which a program may be taken; what a program starts by name is looked up there too. */
export function programDirectories({ path, workspace }: Omit<ProgramPlaces, "nodeDirectory">): readonly string[] {
  return path.filter((directory) => isAbsolute(directory) && !directory.includes(":") && !leadsInside(workspace, directory));
}

/** Whether the file that was found is still there and still the same; whoever may run it stands in its change time, too. */
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
    return undefined; // it cannot be looked at, so it is not the same
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
    return undefined; // absent, or not for us to run: the next directory may have one
  }
}

/** Finds programs by name. */
export type ProgramFinder = (name: string) => FoundProgram | undefined;

/** Looks a program up once; after that only whether it is still the same file. */
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
