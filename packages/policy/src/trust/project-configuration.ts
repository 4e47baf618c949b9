import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, realpathSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, messageOf } from "@assent/core";
import { sha256Hex } from "../facts/sha256.ts";
import { isInside } from "../paths/resolve.ts";

/** All that a workspace says about how Assent should behave, as it was at one moment. */
export type ProjectConfiguration = FoundFiles & {
  /** A real path. */
  readonly workspace: string;
  /** Which directory it is: another one under the same path is another workspace. */
  readonly device: string;
  readonly inode: string;
  /** Over the names and bytes of all files. */
  readonly digest: string;
};

/** Reads the configuration of the workspace with this real path. It looks at that directory alone: no parent, no `.git`, no other worktree has a say. */
export function projectConfiguration(workspace: string): ProjectConfiguration {
  const { dev, ino } = statSync(workspace, { bigint: true });
  const found = configurationFiles(workspace);
  return { ...found, workspace, device: String(dev), inode: String(ino), digest: digestOf(found.files) };
}

function digestOf(files: readonly ConfigurationFile[]): string {
  return sha256Hex(canonicalJson(files.map(({ name, bytes }) => [name, sha256Hex(bytes)])));
}

/** A file that configures Assent, by its path from the workspace. */
export type ConfigurationFile = { readonly name: string; readonly bytes: Uint8Array };

/** All project configuration files in the order of their names, and whatever stands among them that nobody can vouch for. */
export type FoundFiles = { readonly files: readonly ConfigurationFile[]; readonly problems: readonly string[] };

/** Limits beyond which nobody could look through what they trust. */
export const CONFIGURATION_LIMITS: { readonly files: number; readonly bytes: number; readonly depth: number } = {
  files: 1_000,
  bytes: 16 * 1024 * 1024,
  depth: 16,
};

/** Instructions, servers, and everything in `.assent` but the plans, which tools write. */
const ROOT_FILES = [".mcp.json", "AGENTS.md", "CLAUDE.md"];
const ROOT_DIRECTORY = ".assent";
const NOT_CONFIGURATION = `${ROOT_DIRECTORY}/plans`;

/** Reads what configures Assent. It never waits (a FIFO is a problem), follows no link out of the workspace, and stops at the limits. */
export function configurationFiles(workspace: string): FoundFiles {
  const search: Search = { workspace, files: [], problems: [], bytes: 0 };
  for (const name of ROOT_FILES) visit(search, name, 0);
  visitDirectory(search, ROOT_DIRECTORY, 0);
  search.files.sort((one, other) => (one.name < other.name ? -1 : 1));
  return search;
}

type Search = { readonly workspace: string; readonly files: ConfigurationFile[]; readonly problems: string[]; bytes: number };

function visitDirectory(search: Search, name: string, depth: number): void {
  const stats = look(search, name);
  if (!stats) return;
  if (!stats.isDirectory()) problem(search, name, stats.isSymbolicLink() ? "is a link" : "is not a directory");
  else if (depth > CONFIGURATION_LIMITS.depth) problem(search, name, "lies too deep");
  else for (const entry of entriesOf(search, name)) visit(search, `${name}/${entry}`, depth + 1);
}

function visit(search: Search, name: string, depth: number): void {
  if (name === NOT_CONFIGURATION || isFull(search)) return;
  const stats = look(search, name);
  if (!stats) return;
  if (stats.isDirectory() && depth > 0) visitDirectory(search, name, depth);
  else if (stats.isSymbolicLink()) visitLink(search, name);
  else if (stats.isFile()) read(search, name, join(search.workspace, name));
  else problem(search, name, "is not a regular file");
}

/** A link counts as the file it leads to, if that is one of the same workspace. */
function visitLink(search: Search, name: string): void {
  let target: string;
  try {
    target = realpathSync.native(join(search.workspace, name));
  } catch (error) {
    problem(search, name, `is a link that leads nowhere: ${messageOf(error)}`);
    return;
  }
  if (!isInside(search.workspace, target)) problem(search, name, "is a link that leads out of the workspace");
  else if (!lstatSync(target, { throwIfNoEntry: false })?.isFile()) problem(search, name, "is a link to something that is no file");
  else read(search, name, target);
}

function look(search: Search, name: string): Stats | undefined {
  try {
    return lstatSync(join(search.workspace, name), { throwIfNoEntry: false });
  } catch (error) {
    problem(search, name, `cannot be looked at: ${messageOf(error)}`);
    return undefined;
  }
}

function entriesOf(search: Search, name: string): readonly string[] {
  try {
    const entries = readdirSync(join(search.workspace, name), { encoding: "buffer" });
    const names = entries.map((entry) => entry.toString("utf8"));
    if (entries.some((entry, at) => !Buffer.from(names[at] ?? "").equals(entry))) problem(search, name, "holds a name that is not UTF-8");
    return names;
  } catch (error) {
    problem(search, name, `cannot be listed: ${messageOf(error)}`);
    return [];
  }
}

function read(search: Search, name: string, path: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    if (!fstatSync(descriptor).isFile()) problem(search, name, "is not a regular file");
    else keep(search, name, readBytes(descriptor, CONFIGURATION_LIMITS.bytes - search.bytes));
  } catch (error) {
    problem(search, name, `cannot be read: ${messageOf(error)}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Undefined: more than `most` bytes. */
function readBytes(descriptor: number, most: number): Uint8Array | undefined {
  const pieces: Buffer[] = [];
  let size = 0;
  for (;;) {
    const piece = Buffer.alloc(65_536);
    const length = readSync(descriptor, piece, 0, piece.length, null);
    if (length === 0) return Buffer.concat(pieces);
    pieces.push(piece.subarray(0, length));
    size += length;
    if (size > most) return undefined;
  }
}

function keep(search: Search, name: string, bytes: Uint8Array | undefined): void {
  if (!bytes) {
    problem(search, name, `makes the configuration larger than ${CONFIGURATION_LIMITS.bytes} bytes`);
    return;
  }
  search.files.push({ name, bytes });
  search.bytes += bytes.length;
}

/** Said once; what comes after is not looked at. */
function isFull(search: Search): boolean {
  const full = search.files.length >= CONFIGURATION_LIMITS.files;
  if (full && !search.problems.includes(TOO_MANY)) search.problems.push(TOO_MANY);
  return full;
}

const TOO_MANY = `there are more than ${CONFIGURATION_LIMITS.files} configuration files`;

function problem(search: Search, name: string, what: string): void {
  search.problems.push(`${name} ${what}`);
}
