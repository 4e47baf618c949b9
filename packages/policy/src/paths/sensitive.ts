import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { foldPath } from "./fold.ts";
import { isInside } from "./resolve.ts";

const NAMES = new Set([".env", ".git-credentials", ".netrc", ".npmrc", ".pypirc", ".pgpass"]);
const DIRECTORIES = [".aws", ".ssh", ".gnupg", ".config/gcloud"];
const PLACES = [".git/config", ".docker/config.json", ".kube/config"];
const NAME_STARTS = ["id_rsa", "id_ed25519", "secrets."];
const NAME_ENDS = [".env", ".pem", ".key", ".p12", ".pfx", ".keystore"];
const HARMLESS = new Set([".env.example", ".env.sample"]);

/** The same files as patterns of names, for programs that read whole directories. Where the place counts, its first directory is left out. */
export const SECRET_NAME_GLOBS: readonly string[] = [
  ...NAMES,
  ".env.*",
  "credentials*.json",
  ...NAME_STARTS.map((start) => `${start}*`),
  ...NAME_ENDS.map((end) => `*${end}`),
];
export const SECRET_DIRECTORY_NAMES: readonly string[] = [...DIRECTORIES, ...PLACES].map((path) => path.replace(/\/.*/, ""));
/** True for such a directory in the workspace and everything below it: a search that starts there skips nothing by the directory's name. */
export function isInSecretDirectory(path: string, workspace: string): boolean {
  const inner = isInside(workspace, path) ? path.slice(workspace.length) : path;
  return foldPath(inner)
    .split("/")
    .some((name) => SECRET_DIRECTORY_NAMES.includes(name));
}
/** Exceptions from `SECRET_NAME_GLOBS`. */
export const SHOWN_NAMES: readonly string[] = [...HARMLESS];

/** True for files that hold secrets by name or place. */
export function isSensitive(path: string): boolean {
  const folded = foldPath(path);
  return isSensitivePlace(folded) || isSensitiveName(folded.slice(folded.lastIndexOf("/") + 1));
}

export function isSystemTree(path: string): boolean {
  const folded = foldPath(path);
  if (folded === "/dev/null") return false;
  return ["/proc", "/dev"].some((tree) => folded === tree || folded.startsWith(`${tree}/`));
}

function isSensitivePlace(folded: string): boolean {
  if (folded === "/etc/shadow" || isSystemTree(folded)) return true;
  if (/\/\.git\/(?:.*\/)?config(?:\.worktree)?$/s.test(folded)) return true;
  return PLACES.some((place) => folded.endsWith(`/${place}`)) || DIRECTORIES.some((directory) => `${folded}/`.includes(`/${directory}/`));
}

function isSensitiveName(name: string): boolean {
  if (NAMES.has(name) || (name.startsWith(".env.") && !HARMLESS.has(name))) return true;
  if (name.startsWith("credentials") && name.endsWith(".json")) return true;
  return NAME_STARTS.some((start) => name.startsWith(start)) || NAME_ENDS.some((end) => name.endsWith(end));
}

export type FileIdentity = { readonly dev: number; readonly ino: number };

const SECRET_DIRECTORIES = [".ssh", ".aws", ".gnupg", ".config/gcloud", ".docker", ".kube", ""];

/** True for a hard link to a known secret: at home, in the workspace's root or beside `path`. For files with several links. */
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
