import { homedir } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject, type Location, type PathUse } from "@assent/core";
import type { McpServer } from "@assent/policy";
import type { Tool as RemoteTool } from "@modelcontextprotocol/client";

/** What a tool does with the paths among its arguments. */
export type PathArguments = Readonly<Record<string, PathUse>>;

const READ: PathArguments = { path: "read" };
const WRITE: PathArguments = { path: "write" };
const READ_REPOSITORY: PathArguments = { repo_path: "read" };
const WRITE_REPOSITORY: PathArguments = { repo_path: "write" };

/** Tools of the usual servers for files and git. */
const KNOWN: Readonly<Record<string, PathArguments>> = {
  read_file: READ,
  read_text_file: READ,
  read_media_file: READ,
  read_multiple_files: { paths: "read" },
  get_file_info: READ,
  list_directory: READ,
  list_directory_with_sizes: READ,
  directory_tree: READ,
  search_files: READ,
  write_file: WRITE,
  edit_file: WRITE,
  create_directory: WRITE,
  copy_file: { source: "read", destination: "write" },
  move_file: { source: "remove", destination: "write" },
  delete_file: { path: "remove" },
  git_status: READ_REPOSITORY,
  git_diff: READ_REPOSITORY,
  git_diff_staged: READ_REPOSITORY,
  git_diff_unstaged: READ_REPOSITORY,
  git_log: READ_REPOSITORY,
  git_show: READ_REPOSITORY,
  git_branch: READ_REPOSITORY,
  git_add: WRITE_REPOSITORY,
  git_checkout: WRITE_REPOSITORY,
  git_commit: WRITE_REPOSITORY,
  git_create_branch: WRITE_REPOSITORY,
  git_init: WRITE_REPOSITORY,
  git_reset: WRITE_REPOSITORY,
};

/**
 * The paths among the arguments of a tool; undefined if there are none. Settings come first, then the table, which counts only for programs: paths of
 * a server elsewhere are not on this machine.
 */
export function findPathArguments({ name, inputSchema }: RemoteTool, server: McpServer, isOwn: boolean): PathArguments | undefined {
  const configured = Object.hasOwn(server.paths ?? {}, name) ? server.paths?.[name] : undefined;
  const known = server.type === "stdio" && Object.hasOwn(KNOWN, name) ? (KNOWN[name] ?? {}) : {};
  const { properties = {} } = inputSchema;
  const listed = Object.entries(known).filter(([argument]) => isObject(properties) && Object.hasOwn(properties, argument));
  const found = isOwn && configured ? configured : { ...configured, ...Object.fromEntries(listed) };
  return Object.keys(found).length > 0 ? found : undefined;
}

/** Where a call's paths lead. Servers read a relative path from their own directory or from the workspace, so it counts as both. */
export function locateArguments(
  input: Readonly<Record<string, unknown>>,
  paths: PathArguments,
  bases: readonly string[],
): readonly Location[] {
  return Object.entries(paths).flatMap(([argument, use]) => {
    const values = Object.hasOwn(input, argument) ? [input[argument]].flat() : [];
    const texts = values.filter((value) => typeof value === "string");
    return texts.flatMap((text) =>
      [...new Set(bases.map((base) => resolve(base, expandPath(text))))].map((path) => ({ path, use, argument })),
    );
  });
}

function expandPath(text: string): string {
  if (text === "~" || text.startsWith("~/")) return `${homedir()}${text.slice(1)}`;
  if (!/^file:/i.test(text)) return text;
  try {
    return fileURLToPath(text);
  } catch {
    return text; // a server that reads it as a name reads it in its directory
  }
}
