import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isSensitive } from "./sensitive.ts";

/** Identifies a file, whatever its name. */
export type FileIdentity = { readonly dev: number; readonly ino: number };

/** Directories below the home directory whose files hold secrets. */
const SECRET_DIRECTORIES = [".ssh", ".aws", ".gnupg", ".config/gcloud", ".docker", ".kube", ""];

/**
 * True for a hard link to a file that is known to hold secrets: one in the home directory's usual places, in the workspace's root, or in the directory of
 * `path`. Call it only for a file with several names; no other can be a hard link.
 */
export function isProtectedFile(file: FileIdentity, { path, workspace, home }: { path: string; workspace: string; home: string }): boolean {
  const directories = [...SECRET_DIRECTORIES.map((name) => join(home, name)), workspace, join(workspace, ".git"), dirname(path)];
  return [...new Set(directories)].some((directory) => secretsIn(directory).some((secret) => isSame(file, secret)));
}

function secretsIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .map((name) => join(directory, name))
      .filter(isSensitive);
  } catch {
    return []; // a directory that is missing or cannot be listed
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
