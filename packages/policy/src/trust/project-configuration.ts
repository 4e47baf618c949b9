import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, realpathSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, messageOf } from "@assent/core";
import { sha256Hex } from "../facts/digest.ts";
import { isInside } from "../paths/resolve.ts";

/** The configuration of a workspace at one moment. */
export type ProjectConfiguration = ConfigurationFiles & {
  /** Real path. */
  readonly workspace: string;
  /** Another directory under the same path is another workspace. */
  readonly device: string;
  readonly inode: string;
  /** Over all names and bytes. */
  readonly digest: string;
};

/** Reads a workspace's configuration, from that directory alone. */
export function readProjectConfiguration(workspace: string): ProjectConfiguration {
  const { dev, ino } = statSync(workspace, { bigint: true });
  const found = findConfigurationFiles(workspace);
  return { ...found, workspace, device: String(dev), inode: String(ino), digest: digestFiles(found.files) };
}

function digestFiles(files: readonly ConfigurationFile[]): string {
  return sha256Hex(canonicalJson(files.map(({ name, bytes }) => [name, sha256Hex(bytes)])));
}

/** A configuration file, by path from the workspace. */
export type ConfigurationFile = { readonly name: string; readonly bytes: Uint8Array };

/** Configuration files in name order, and entries that cannot be trusted. */
export type ConfigurationFiles = { readonly files: readonly ConfigurationFile[]; readonly problems: readonly string[] };

/** Limits on what a person could review. */
export const CONFIGURATION_LIMITS: { readonly files: number; readonly bytes: number; readonly depth: number } = {
  files: 1_000,
  bytes: 16 * 1024 * 1024,
  depth: 16,
};

const ROOT_FILES = [".mcp.json", "AGENTS.md", "CLAUDE.md"];
const ROOT_DIRECTORY = ".assent";
const NOT_CONFIGURATION = `${ROOT_DIRECTORY}/plans`;

/** Finds configuration files. Never blocks, follows no link out of the workspace, and stops at limits. */
export function findConfigurationFiles(workspace: string): ConfigurationFiles {
  const search: ConfigurationSearch = { workspace, files: [], problems: [], bytes: 0 };
  for (const name of ROOT_FILES) visit(search, name, 0);
  visitDirectory(search, ROOT_DIRECTORY, 0);
  search.files.sort((one, other) => (one.name < other.name ? -1 : 1));
  return search;
}

type ConfigurationSearch = { readonly workspace: string; readonly files: ConfigurationFile[]; readonly problems: string[]; bytes: number };

function visitDirectory(search: ConfigurationSearch, name: string, depth: number): void {
  const stats = lstatFile(search, name);
  if (!stats) return;
  if (!stats.isDirectory()) addProblem(search, name, stats.isSymbolicLink() ? "is a link" : "is not a directory");
  else if (depth > CONFIGURATION_LIMITS.depth) addProblem(search, name, "is nested too deeply");
  else for (const entry of entriesOf(search, name)) visit(search, `${name}/${entry}`, depth + 1);
}

function visit(search: ConfigurationSearch, name: string, depth: number): void {
  if (name === NOT_CONFIGURATION || isFull(search)) return;
  const stats = lstatFile(search, name);
  if (!stats) return;
  if (stats.isDirectory() && depth > 0) visitDirectory(search, name, depth);
  else if (stats.isSymbolicLink()) visitLink(search, name);
  else if (stats.isFile()) readFile(search, name, join(search.workspace, name));
  else addProblem(search, name, "is not a regular file");
}

/** A link counts as its target if that is in the workspace. */
function visitLink(search: ConfigurationSearch, name: string): void {
  let target: string;
  try {
    target = realpathSync.native(join(search.workspace, name));
  } catch (error) {
    addProblem(search, name, `is a broken link: ${messageOf(error)}`);
    return;
  }
  if (!isInside(search.workspace, target)) addProblem(search, name, "is a link to a place outside the workspace");
  else if (!lstatSync(target, { throwIfNoEntry: false })?.isFile()) addProblem(search, name, "is a link to something that is not a file");
  else readFile(search, name, target);
}

function lstatFile(search: ConfigurationSearch, name: string): Stats | undefined {
  try {
    return lstatSync(join(search.workspace, name), { throwIfNoEntry: false });
  } catch (error) {
    addProblem(search, name, `cannot be inspected: ${messageOf(error)}`);
    return undefined;
  }
}

function entriesOf(search: ConfigurationSearch, name: string): readonly string[] {
  try {
    const entries = readdirSync(join(search.workspace, name), { encoding: "buffer" });
    const names = entries.map((entry) => entry.toString("utf8"));
    if (entries.some((entry, at) => !Buffer.from(names[at] ?? "").equals(entry)))
      addProblem(search, name, "contains a name that is not UTF-8");
    return names;
  } catch (error) {
    addProblem(search, name, `cannot be listed: ${messageOf(error)}`);
    return [];
  }
}

function readFile(search: ConfigurationSearch, name: string, path: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    if (!fstatSync(descriptor).isFile()) addProblem(search, name, "is not a regular file");
    else keepFile(search, name, readBytes(descriptor, CONFIGURATION_LIMITS.bytes - search.bytes));
  } catch (error) {
    addProblem(search, name, `cannot be read: ${messageOf(error)}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Undefined: too large. */
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

function keepFile(search: ConfigurationSearch, name: string, bytes: Uint8Array | undefined): void {
  if (!bytes) {
    addProblem(search, name, `makes the configuration larger than ${CONFIGURATION_LIMITS.bytes} bytes`);
    return;
  }
  search.files.push({ name, bytes });
  search.bytes += bytes.length;
}

function isFull(search: ConfigurationSearch): boolean {
  const full = search.files.length >= CONFIGURATION_LIMITS.files;
  if (full && !search.problems.includes(TOO_MANY)) search.problems.push(TOO_MANY);
  return full;
}

const TOO_MANY = `there are more than ${CONFIGURATION_LIMITS.files} configuration files`;

function addProblem(search: ConfigurationSearch, name: string, what: string): void {
  search.problems.push(`${name} ${what}`);
}
