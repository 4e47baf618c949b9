import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { errorCode } from "@assent/core";

const MAX_LINKS = 40;

/** The spellings of a path. */
export type ResolvedPath = {
  /** What tools open: absolute and normalized without reading the disk. */
  readonly absolute: string;
  /** The same in NFC, for comparing and showing. */
  readonly lexical: string;
  /** All links resolved, also for a missing file. Null: a loop, or not readable. */
  readonly real: string | null;
};

/** Resolves a path from a working directory. */
export function resolvePath(path: string, cwd: string): ResolvedPath {
  const absolute = resolve(cwd, path);
  return { absolute, lexical: absolute.normalize("NFC"), real: absolute.includes("\0") ? null : findRealPath(absolute) };
}

/** Resolves a path as the system does: `..` goes up from a link's target. Null: a loop, or not readable. */
export function resolvePhysically(path: string, cwd: string): string | null {
  return walkPath(path.startsWith("/") ? path : `${cwd}/${path}`);
}

/** Compares by component: `/w/app-evil` is not inside `/w/app`. */
export function isInside(root: string, path: string): boolean {
  if (path === root) return true;
  return path.startsWith(root.endsWith("/") ? root : `${root}/`);
}

/** The home directory: the given one if absolute, otherwise the account's. */
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

/** Resolves component by component, for paths that do not fully exist. */
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

/** Undefined: no link. Null: not readable. */
function readLinkAt(path: string): string | undefined | null {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch (error) {
    return isAbsent(error) ? undefined : null;
  }
}

/** True for the error about a path that does not exist. */
export function isAbsent(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "");
}
