import { type BigIntStats, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode, type Kind, type PathUse } from "@assent/core";
import { createControlFileTest, type PathTest } from "./control-files.ts";
import { foldPath } from "./fold.ts";
import { findPathHazards, type PathHazards } from "./hazards.ts";
import { isInside, type ResolvedPath, resolveHome, resolvePath } from "./resolve.ts";
import { type FileIdentity, isHardLinkToSecret, isSensitive, isSystemTree } from "./sensitive.ts";

/** A directory by real path and identity. */
export type DirectoryAnchor = { readonly path: string; readonly device: string; readonly inode: string };

/** What is known of one path of a request. */
export type PathFact = ResolvedPath &
  PathHazards & {
    /** Inside the workspace, links resolved. False for a path with a hazard. */
    readonly inside: boolean;
    readonly sensitive: boolean;
    /** Writing it can steer agents or run code later. */
    readonly control: boolean;
    readonly ownOutput: boolean;
    /** The session's plan, reached without links and without hard links. */
    readonly planFile: boolean;
    /** What the call does there, and the argument that names it; absent: what the tool's kind says. */
    readonly use?: PathUse;
    readonly argument?: string;
    /** True if this open file is a hard link to a secret. */
    readonly isProtected: (file: FileIdentity & { readonly nlink: number }) => boolean;
    /** The nearest existing parent; writers check that it is still the same. Null: unknown. */
    readonly anchor: () => DirectoryAnchor | null;
  };

/** What a request does at a path: what its tool says, else what its kind means. */
export function pathUse({ kind }: { readonly kind: Kind }, { use }: Pick<PathFact, "use">): PathUse {
  if (use) return use;
  if (kind === "delete" || kind === "move") return "remove";
  return READ_KINDS.includes(kind) ? "read" : "write";
}

const READ_KINDS: readonly Kind[] = ["read", "search", "fetch"];

/** The directories a session works in. */
export type SessionDirectories = {
  /** Real path. */
  readonly workspace: string;
  readonly additionalDirectories?: readonly string[];
  /** Output directories that may be read without asking. */
  readonly readable?: readonly string[];
  /** Real path of the session's plan, if any. */
  readonly planFile?: () => string | undefined;
  /** Defaults to the account's home directory. */
  readonly home?: string;
  /** Control files and sensitive files from settings. */
  readonly protect?: readonly PathTest[];
  readonly sensitive?: readonly PathTest[];
};

/** Tells where a path leads and how it relates to the session. */
export type PathLookup = (path: string, cwd: string) => PathFact;

/** Creates a lookup that reads the disk every time, because links may change between calls. */
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

/** Undefined: nothing there. Null: not readable. */
function statDirectory(path: string): BigIntStats | undefined | null {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    return errorCode(error) === "ENOTDIR" ? undefined : null;
  }
}

export function createLivePathLookup(directories: () => SessionDirectories): PathLookup {
  let known: { readonly of: SessionDirectories; readonly look: PathLookup } | undefined;
  return (path, cwd) => {
    const now = directories();
    if (known?.of !== now) known = { of: now, look: createPathLookup(now) };
    return known.look(path, cwd);
  };
}
