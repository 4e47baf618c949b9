import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { errorCode } from "./error-code.ts";

/** Links followed before a path counts as a loop. */
const MAX_LINKS = 40;

/** The two spellings of a path. */
export type ResolvedPath = {
  /** What tools open: absolute, `.`, `..` and repeated slashes removed without looking at the disk. */
  readonly absolute: string;
  /** The same in NFC, for comparing and showing. */
  readonly lexical: string;
  /** Every link resolved, also for a file that does not exist yet. Null: a loop, or a place one may not look at. */
  readonly real: string | null;
};

/** Both spellings of a path that a request names, taken from the request's working directory. */
export function resolvePath(path: string, cwd: string): ResolvedPath {
  const absolute = resolve(cwd, path);
  return { absolute, lexical: absolute.normalize("NFC"), real: absolute.includes("\0") ? null : findRealPath(absolute) };
}

/**
 * Where the system itself goes from a directory by a path as it is written: `..` leads up from where a link leads, not from where it stands.
 * Null: a loop, or a place one may not look at.
 */
export function resolvePhysically(path: string, cwd: string): string | null {
  return walkPath(path.startsWith("/") ? path : `${cwd}/${path}`);
}

/** By component, never by text prefix: `/w/app-evil` is not inside `/w/app`. */
export function isInside(root: string, path: string): boolean {
  if (path === root) return true;
  return path.startsWith(root.endsWith("/") ? root : `${root}/`);
}

/** The home directory that `~` means: the given one if it is absolute, otherwise that of the account. An empty HOME never means the working directory. */
export function resolveHome(given: string | undefined): string {
  return given !== undefined && isAbsolute(given) ? given : userInfo().homedir;
}

function findRealPath(absolute: string): string | null {
  try {
    return realpathSync.native(absolute);
  } catch (error) {
    return isAbsent(error) ? walkPath(absolute) : null;
  }
}

/** Component by component, for what does not exist whole: beyond the last existing ancestor the names stand for themselves, and a dangling link for its target. */
function walkPath(absolute: string): string | null {
  const rest = absolute.split("/").reverse();
  let real = "";
  let hops = 0;
  for (let name = rest.pop(); name !== undefined && hops <= MAX_LINKS; name = rest.pop()) {
    const at = joinName(real, name);
    const leads = at === real ? undefined : readLinkAt(at);
    if (leads === null) return null;
    if (leads === undefined) {
      real = at;
      continue;
    }
    hops++;
    if (leads.startsWith("/")) real = "";
    rest.push(...leads.split("/").reverse());
  }
  if (hops > MAX_LINKS) return null;
  return real || "/";
}

function joinName(real: string, name: string): string {
  if (name === "" || name === ".") return real;
  return name === ".." ? real.slice(0, Math.max(0, real.lastIndexOf("/"))) : `${real}/${name}`;
}

/** Undefined: no link, or nothing there. Null: it cannot be told. */
function readLinkAt(path: string): string | undefined | null {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch (error) {
    return isAbsent(error) ? undefined : null;
  }
}

function isAbsent(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "");
}
