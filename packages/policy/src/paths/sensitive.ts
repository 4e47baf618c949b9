import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { foldPath } from "./fold.ts";

const NAMES = new Set([".env", ".git-credentials", ".netrc", ".npmrc", ".pypirc", ".pgpass"]);
const DIRECTORIES = [".aws", ".ssh", ".gnupg", ".config/gcloud"];
const PLACES = [".git/config", ".docker/config.json", ".kube/config"];
const NAME_STARTS = ["id_rsa", "id_ed25519", "secrets."];
const NAME_ENDS = [".pem", ".key", ".p12", ".pfx", ".keystore"];
const HARMLESS = new Set([".env.example", ".env.sample"]);

/** Files that hold secrets by their name or place, whatever the case. */
export function isSensitive(path: string): boolean {
  const folded = foldPath(path);
  return isSensitivePlace(folded) || isSensitiveName(folded.slice(folded.lastIndexOf("/") + 1));
}

/** The kernel's and the devices' trees are no files of anybody's workspace, wherever that is. */
export function isSystemTree(path: string): boolean {
  const folded = foldPath(path);
  if (folded === "/dev/null") return false;
  return ["/proc", "/dev"].some((tree) => folded === tree || folded.startsWith(`${tree}/`));
}

function isSensitivePlace(folded: string): boolean {
  if (folded === "/etc/shadow" || isSystemTree(folded)) return true;
  return PLACES.some((place) => folded.endsWith(`/${place}`)) || DIRECTORIES.some((directory) => `${folded}/`.includes(`/${directory}/`));
}

function isSensitiveName(name: string): boolean {
  if (NAMES.has(name) || (name.startsWith(".env.") && !HARMLESS.has(name))) return true;
  if (name.startsWith("credentials") && name.endsWith(".json")) return true;
  return NAME_STARTS.some((start) => name.startsWith(start)) || NAME_ENDS.some((end) => name.endsWith(end));
}

/** Identifies a file, whatever its name. */
export type FileIdentity = { readonly dev: number; readonly ino: number };

/** Directories below the home directory whose files hold secrets. */
const SECRET_DIRECTORIES = [".ssh", ".aws", ".gnupg", ".config/gcloud", ".docker", ".kube", ""];

/**
 * True for a hard link to a file that is known to hold secrets: one in the home directory's usual places, in the workspace's root, or in the directory of
 * `path`. Call it only for a file with several names; no other can be a hard link.
 */
export function isHardLinkToSecret(
  file: FileIdentity,
  { path, workspace, home }: { path: string; workspace: string; home: string },
): boolean {
  const directories = [...SECRET_DIRECTORIES.map((name) => join(home, name)), workspace, join(workspace, ".git"), dirname(path)];
  return [...new Set(directories)].some((directory) => listSecrets(directory).some((secret) => isSameFile(file, secret)));
}

function listSecrets(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .map((name) => join(directory, name))
      .filter(isSensitive);
  } catch {
    return []; // a directory that is missing or cannot be listed
  }
}

function isSameFile({ dev, ino }: FileIdentity, path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats !== undefined && stats.dev === dev && stats.ino === ino;
  } catch {
    return false;
  }
}
