import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { messageOf, type PathChange, type PathContent, type Processes, type ShownChange, ToolError } from "@assent/core";
import { digestOf, TOP, type TreeComparison, type TreeDifference, type TreeEntry } from "./compare-trees.ts";
import { findAttributes } from "./find-attributes.ts";

/** The most that can be written from a preview. */
const MOST_BYTES = 64 * 1024 * 1024;
export const MOST_PATHS = 5000;

/** What a command changed: for people, and with contents to write. */
export type CollectedChanges = {
  readonly changes: readonly ShownChange[];
  /** Without refused paths; empty above the limits. To be written only if not `unwritable`. */
  readonly planned: readonly PathChange[];
  /** Why the changes cannot be written, as a sentence. */
  readonly unwritable?: string;
};

/** `list` is a path for a temporary file. */
export type CollectedTrees = { readonly processes: Processes; readonly workspace: string; readonly view: string; readonly list: string };

/** Turns differences into changes that can be shown and written. Names what cannot be written instead of leaving it out. */
export async function collectChanges(trees: CollectedTrees, comparison: TreeComparison): Promise<CollectedChanges> {
  const { differences } = comparison;
  const bytes = differences.reduce((sum, { before, after }) => sum + sizeOf(before) + sizeOf(after), 0);
  const isLarge = bytes > MOST_BYTES;
  const changes = differences.map((difference) => showChange(trees, difference, isLarge));
  const unwritable = findObstacle(comparison, bytes) ?? (await findAttributed(trees, comparison));
  const readable = isLarge || comparison.cut ? [] : differences.filter((difference) => refusalOf(difference) === undefined);
  const planned = readable.map((difference) => planChange(trees, difference));
  return { changes, planned, ...(unwritable !== undefined && { unwritable }) };
}

function findObstacle({ differences, foreign, unnamed, cut }: TreeComparison, bytes: number): string | undefined {
  if (cut) return `It changed more than ${MOST_PATHS} paths.`;
  if (bytes > MOST_BYTES) return `Its changes take ${megabytes(bytes)}; at most ${megabytes(MOST_BYTES)} can be written from a preview.`;
  if (foreign.length > 0) return `Something else changed ${listPaths(foreign)} meanwhile.`;
  if (unnamed.length > 0) return `The name of ${listPaths(unnamed)} is not valid UTF-8, so it cannot be compared.`;
  const [first, ...more] = differences.flatMap((difference) => refusalOf(difference) ?? []);
  return first === undefined ? undefined : `${first}${more.length > 0 ? ` (and ${more.length} more)` : ""}.`;
}

/** Writing replaces files, which would lose these attributes. */
async function findAttributed(
  { processes, workspace, view, list }: CollectedTrees,
  comparison: TreeComparison,
): Promise<string | undefined> {
  const { differences, same } = comparison;
  const before = [...same, ...differences.filter((one) => one.before !== null).map(({ path }) => path)];
  const after = [...same, ...differences.filter((one) => one.after !== null).map(({ path }) => path)];
  try {
    const found = [
      ...(await findAttributes({ processes, tree: workspace, list }, before)),
      ...(await findAttributes({ processes, tree: view, list }, after)),
    ];
    const paths = [...new Set(found)];
    return paths.length === 0
      ? undefined
      : `Extended attributes or access control lists cannot be written from a preview: ${listPaths(paths)}.`;
  } catch (error) {
    return `Its changes cannot be written: ${messageOf(error)}.`;
  }
}

function listPaths(paths: readonly string[]): string {
  const shown = paths.slice(0, 3).join(", ");
  return paths.length > 3 ? `${shown} and ${paths.length - 3} more` : shown;
}

function sizeOf(entry: TreeEntry | null): number {
  return entry?.kind === "file" ? entry.size : 0;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)} MiB`;
}

const KIND_WORDS = {
  file: "a file",
  link: "a symbolic link",
  directory: "a directory",
  pipe: "a named pipe",
  socket: "a socket",
  device: "a device",
} as const;

const SPECIAL_BITS = 0o7000;
const OWNER_BITS = 0o700;
const OWNER_READS = 0o400;

function refusalOf({ path, before, after }: TreeDifference): string | undefined {
  if (path === TOP) return "It changed the mode of the workspace itself";
  const special = [after, before].find((entry) => entry && ["pipe", "socket", "device"].includes(entry.kind));
  if (special) return `${path} is ${KIND_WORDS[special.kind]}, which cannot be written from a preview`;
  if (before && after && (before.kind === "directory") !== (after.kind === "directory"))
    return `${path} was ${KIND_WORDS[before.kind]} and became ${KIND_WORDS[after.kind]}, which cannot be written as one change`;
  const marked = [after, before].find((entry) => entry?.kind === "file" && (entry.mode & SPECIAL_BITS) !== 0);
  if (marked) return `${path} has the setuid, setgid or sticky bit`;
  if (after?.kind === "file" && (after.mode & OWNER_READS) === 0) return `${path} is a file that its owner cannot read`;
  const isShut = after?.kind === "directory" && (after.mode & OWNER_BITS) !== OWNER_BITS;
  return isShut ? `${path} is a directory that its owner cannot change` : undefined;
}

function showChange(trees: CollectedTrees, difference: TreeDifference, isLarge: boolean): ShownChange {
  const { path, before, after } = difference;
  const { view } = trees;
  const what = refusalOf(difference) !== undefined ? "refused" : whatChanged(trees, difference);
  const size =
    after?.kind === "file" && isLarge && after.size > LARGE ? [`${megabytes(after.size)}, sha256 ${digestOf(join(view, path))}`] : [];
  const target = after?.kind === "link" ? [`link to ${after.target}`] : before?.kind === "link" && !after ? ["link"] : [];
  const directory = (after ?? before)?.kind === "directory" ? ["directory"] : [];
  const special = what === "refused" ? [KIND_WORDS[(after ?? before)?.kind ?? "file"]] : [];
  const isModeShown = before !== null && after !== null && before.kind === after.kind && before.mode !== after.mode;
  const mode = isModeShown ? [`mode ${octal(before.mode)} to ${octal(after.mode)}`] : [];
  const isProgram = before === null && after?.kind === "file" && (after.mode & 0o111) !== 0;
  const isLinked = after?.kind === "file" && after.names > 1;
  const linked = isLinked ? ["one of several names of a file, becomes a file of its own"] : [];
  const notes = [...target, ...directory, ...special, ...mode, ...(isProgram ? ["executable"] : []), ...linked, ...size];
  return { path, what, ...(notes.length > 0 && { note: notes.join(", ") }) };
}

const LARGE = 1024 * 1024;

function whatChanged({ workspace, view }: CollectedTrees, { path, before, after }: TreeDifference): ShownChange["what"] {
  if (!before) return "created";
  if (!after) return "deleted";
  if (before.kind !== after.kind || before.mode === after.mode) return "modified";
  if (before.kind === "directory") return "mode";
  const isSame = before.size === after.size && digestOf(join(workspace, path)) === digestOf(join(view, path));
  return isSame ? "mode" : "modified";
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}

function planChange({ workspace, view }: Pick<CollectedTrees, "workspace" | "view">, { path, before, after }: TreeDifference): PathChange {
  const place = join(workspace, path);
  const isModed = (entry: TreeEntry | null): number | null => (entry === null || entry.kind === "link" ? null : entry.mode);
  return {
    path: place,
    realPath: place,
    before: contentOf(before?.kind === "file" ? findUnmoved(workspace, path) : place, before),
    after: contentOf(join(view, path), after),
    modes: { before: isModed(before), after: isModed(after) },
  };
}

/** Other programs still run in the workspace, and may put a link to a place outside where a directory was. */
function findUnmoved(workspace: string, path: string): string {
  const place = join(realpathSync(workspace), path);
  if (realpathSync(place) !== place) throw new ToolError(`Something else changed ${path} meanwhile.`, "execution_failed");
  return place;
}

function contentOf(path: string, entry: TreeEntry | null): PathContent {
  if (entry === null) return null;
  if (entry.kind === "directory") return "directory";
  return entry.kind === "link" ? { link: entry.target ?? "" } : readFileSync(path);
}
