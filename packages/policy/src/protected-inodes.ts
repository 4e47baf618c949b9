import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isSensitive } from "./sensitive.ts";

/** A file as the system tells files apart, whatever their names. */
export type FileIdentity = { readonly dev: number; readonly ino: number };

/** Directories whose files hold secrets, below the home directory, and how many entries of each are looked at. */
const SECRET_DIRECTORIES = [".ssh", ".aws", ".gnupg", ".config/gcloud", ".docker", ".kube", ""];
const MOST_ENTRIES = 1_000;

/**
 * Whether a file is one of those known to hold secrets under another name: a hard link is the file itself. Known are those of the home directory, of the
 * workspace's root and of the directory it stands in. Only a file with several names can be one, so nothing else needs this look.
 */
export function isProtectedFile(file: FileIdentity, { path, workspace, home }: { path: string; workspace: string; home: string }): boolean {
  const directories = [...SECRET_DIRECTORIES.map((name) => join(home, name)), workspace, join(workspace, ".git"), dirname(path)];
  return [...new Set(directories)].some((directory) => secretsIn(directory).some((secret) => isSame(file, secret)));
}

function secretsIn(directory: string): readonly string[] {
  try {
    const names = readdirSync(directory).slice(0, MOST_ENTRIES);
    return names.map((name) => join(directory, name)).filter(isSensitive);
  } catch {
    return []; // it is not there, or not for us to list: then nobody linked from it either
  }
}

function isSame({ dev, ino }: FileIdentity, path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats !== undefined && stats.dev === dev && stats.ino === ino;
  } catch {
    return false;
  }
}
