import { type BigIntStats, statSync } from "node:fs";
import { dirname } from "node:path";
import { createControlFileTest, type PathTest } from "./control-files.ts";
import { errorCode } from "./error-code.ts";
import { foldPath } from "./fold.ts";
import { findPathHazards, type PathHazards } from "./hazards.ts";
import { isInside, type ResolvedPath, resolveHome, resolvePath } from "./resolve.ts";
import { type FileIdentity, isHardLinkToSecret, isSensitive, isSystemTree } from "./sensitive.ts";

/** A directory by its real path, and which one it was when it was looked at. */
export type DirectoryAnchor = { readonly path: string; readonly device: string; readonly inode: string };

/** What is known of one path of a request. */
export type PathFact = ResolvedPath &
  PathHazards & {
    /** Inside the workspace after resolving links. A path that has a hazard is not: nobody can tell. */
    readonly inside: boolean;
    readonly sensitive: boolean;
    /** Writing it steers agents, or runs code later. */
    readonly control: boolean;
    /** One of the session's own output files. */
    readonly ownOutput: boolean;
    /** The session's plan, by exactly its real path: no link leads there, none lies on the way, and the file has no other name. */
    readonly planFile: boolean;
    /** True if this opened file is a hard link to one that holds secrets. */
    readonly isProtected: (file: FileIdentity & { readonly nlink: number }) => boolean;
    /** The nearest directory above it that exists, looked at when asked for. Whoever writes makes sure that it is still this one. Null: it cannot be told. */
    readonly anchor: () => DirectoryAnchor | null;
  };

/** The directories a session works in. */
export type SessionDirectories = {
  /** As a real path. */
  readonly workspace: string;
  readonly additionalDirectories?: readonly string[];
  /** Directories of the session's own output, which may be read without asking. */
  readonly readable?: readonly string[];
  /** The session's plan, as a real path; undefined while it has none. */
  readonly planFile?: () => string | undefined;
  /** The home directory; the system's word for it when absent. */
  readonly home?: string;
  /** Control files and sensitive files that settings add. */
  readonly protect?: readonly PathTest[];
  readonly sensitive?: readonly PathTest[];
};

/** Tells of a path, taken from a working directory, where it leads and whether that is the session's business. */
export type PathLookup = (path: string, cwd: string) => PathFact;

/** Looks at the disk at every question: links may change between two calls. */
export function createPathLookup(directories: SessionDirectories): PathLookup {
  const { workspace, additionalDirectories = [], readable = [], planFile, home, sensitive = [], protect = [] } = directories;
  const roots = [workspace, ...additionalDirectories.map(resolveRoot)];
  const outputs = readable.map(resolveRoot);
  const isControl = createControlFileTest(resolveHome(home), protect);
  return (path, cwd) => {
    const resolved = resolvePath(path, cwd);
    const { lexical, real } = resolved;
    const spellings = real === null || real === lexical ? [lexical] : [lexical, real];
    const folded = spellings.map(foldPath);
    const system = spellings.some(isSystemTree);
    const strange = findPathHazards(path, resolved);
    const isProtected: PathFact["isProtected"] = (file) =>
      file.nlink > 1 && isHardLinkToSecret(file, { path: real ?? lexical, workspace, home: resolveHome(home) });
    const place = real === null || system || strange.hazards.length > 0 ? null : real;
    return {
      ...resolved,
      ...strange,
      inside: place !== null && roots.some((root) => isInside(root, place)),
      sensitive:
        system ||
        spellings.some(isSensitive) ||
        folded.some((one) => sensitive.some((isMeant) => isMeant(one))) ||
        (strange.linked !== undefined && isProtected(strange.linked)),
      isProtected,
      control: folded.some(isControl),
      ownOutput: place !== null && outputs.some((root) => isInside(root, place)),
      planFile: planFile !== undefined && strange.writeHazards.length === 0 && real === resolved.absolute && real === planFile(),
      anchor: () => (real === null ? null : findAnchor(real)),
    };
  };
}

function resolveRoot(directory: string): string {
  const { absolute, real } = resolvePath(directory, "/");
  return real ?? absolute;
}

function findAnchor(real: string): DirectoryAnchor | null {
  for (let path = dirname(real); ; path = dirname(path)) {
    const stats = statDirectory(path);
    if (stats === null) return null;
    if (stats?.isDirectory()) return { path, device: String(stats.dev), inode: String(stats.ino) };
    if (path === dirname(path)) return null;
  }
}

/** Undefined: there is nothing. Null: one may not look. */
function statDirectory(path: string): BigIntStats | undefined | null {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    return errorCode(error) === "ENOTDIR" ? undefined : null;
  }
}

/** A scope that follows its directories when settings are read again; they are compared by identity. */
export function createLivePathLookup(directories: () => SessionDirectories): PathLookup {
  let known = directories();
  let scope = createPathLookup(known);
  return (path, cwd) => {
    const now = directories();
    if (now !== known) {
      known = now;
      scope = createPathLookup(now);
    }
    return scope(path, cwd);
  };
}
