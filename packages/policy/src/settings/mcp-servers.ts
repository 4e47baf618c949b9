import { isObject, type PathUse } from "@assent/core";
import { findNodeAtLocation, getNodeValue, type Node } from "jsonc-parser";
import { isServerName, normalizeServerName } from "../rules/mcp-name.ts";
import type { SettingsProblem } from "./problem.ts";
import { readSettingsFile } from "./read-file.ts";
import {
  type FieldReaders,
  listOf,
  oneOf,
  readFields,
  recordOf,
  text,
  textRecord,
  trueOrFalse,
  type ValueFault,
  type ValueReader,
  wholeNumber,
  wrongValue,
} from "./setting-values.ts";
import { addProblem, keyPath, objectMembers, openPage, type SettingsPage } from "./settings-page.ts";

/** How to reach an MCP server: a program to start, or an address. Texts may contain `${VAR}` and `${VAR:-default}`. */
export type McpServerTransport =
  | {
      readonly type: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      /** Relative to the workspace, which is the default. */
      readonly cwd?: string;
    }
  | { readonly type: "http" | "sse"; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** An MCP server as it is configured. */
export type McpServer = McpServerTransport & {
  /** Limit of one call, in milliseconds. */
  readonly timeout?: number;
  readonly enabledTools?: readonly string[];
  readonly disabledTools?: readonly string[];
  /** Paths among the arguments, by the server's names of tools. */
  readonly paths?: Readonly<Record<string, Readonly<Record<string, PathUse>>>>;
  /** What the server says about its tools is believed. Counts only in the user's and the team's settings. */
  readonly trust?: boolean;
  /** It is configured, but not started. */
  readonly disabled?: boolean;
};

/** Servers by their names as written. */
export type McpServers = Readonly<Record<string, McpServer>>;

const anyText: ValueReader<string> = (value) => (typeof value === "string" ? { value } : wrongValue("a string", value));

const BOTH: FieldReaders = {
  type: serverType,
  timeout: wholeNumber(1, 2_147_483_647),
  enabledTools: listOf(text("a tool name")),
  disabledTools: listOf(text("a tool name")),
  paths: recordOf(recordOf(oneOf("read", "write", "remove"))),
  trust: trueOrFalse,
  disabled: trueOrFalse,
};
const LOCAL: FieldReaders = { command: text("a program"), args: listOf(anyText), env: recordOf(anyText), cwd: text("a directory") };
const REMOTE: FieldReaders = { url: text("an http or https URL", isAddress), headers: textRecord };

const mcpServer: ValueReader<McpServer> = (value) => {
  if (!isObject(value)) return wrongValue("an object", value);
  if ("command" in value === "url" in value)
    return { faults: [{ path: [], message: 'needs either "command", a program to start, or "url", the address of a server' }] };
  const isRemote = "url" in value;
  const readers = { ...BOTH, ...(isRemote ? REMOTE : LOCAL) };
  const { entry: given, faults } = readFields(value, readers, (key) => unknownKeyMessage(key, readers, isRemote));
  if (faults.length > 0) return { faults };
  const entry = isRemote ? { type: "http", headers: {}, ...given } : { type: "stdio", args: [], env: {}, ...given };
  if ((entry.type === "stdio") === isRemote) {
    const message = isRemote ? 'must be http or sse, because there is a "url"' : 'must be stdio, because there is a "command"';
    return { faults: [{ path: ["type"], message }] };
  }
  return { value: entry as unknown as McpServer }; // the readers checked every field
};

/** Reads servers by name. Two names that tools could not tell apart are refused. */
export const mcpServers: ValueReader<McpServers> = (value) => {
  const reading = recordOf(mcpServer)(value);
  const wrongNames = isObject(value) ? nameFaults(Object.keys(value)) : [];
  return wrongNames.length === 0 ? reading : { faults: [...wrongNames, ...("faults" in reading ? reading.faults : [])] };
};

/** The servers of a file, without those that have a problem. */
export type McpFile = { readonly servers: McpServers; readonly problems: readonly SettingsProblem[] };

/** Reads a file with `mcpServers`, such as `.mcp.json`. A problem with one server does not affect the others. */
export function readMcpFile(file: string, options: { readonly required?: boolean } = {}): McpFile {
  const reading = readSettingsFile(file);
  if ("text" in reading) return readMcpText(file, reading.text);
  if ("fault" in reading) {
    const { place, ...words } = reading.fault;
    return { servers: {}, problems: [{ file, key: "", ...place, ...words, effect: "refuse" }] };
  }
  if (!options.required) return { servers: {}, problems: [] };
  const words = { message: `${file} does not exist.`, hint: "Check the path." };
  return { servers: {}, problems: [{ type: "settings_unreadable", file, line: 1, column: 1, key: "", ...words, effect: "refuse" }] };
}

/** Reads the text of such a file. */
export function readMcpText(file: string, written: string): McpFile {
  const { page, root } = openPage(file, written);
  const { problems } = page;
  if (!root) return { servers: {}, problems };
  const found = root.type === "object" ? objectMembers(root).find(([name]) => name.value === "mcpServers")?.[1] : undefined;
  if (found?.type !== "object") {
    const message = 'The file needs an object "mcpServers".';
    addProblem(page, { type: "settings_type", offset: root.offset, key: "mcpServers", message, hint: NAMED_HINT });
    return { servers: {}, problems };
  }
  const servers: Record<string, McpServer> = {};
  const members = objectMembers(found);
  const refused = new Set(nameFaults(members.map(([name]) => String(name.value))).map((fault) => reportFault(page, found, fault)));
  for (const [name, node] of members) {
    const server = String(name.value);
    const value: unknown = getNodeValue(node);
    if (isObject(value) && value["type"] === "sdk") continue; // it is in the program that drives Assent, which brings it along
    const read = mcpServer(value);
    if ("faults" in read) for (const fault of read.faults) reportFault(page, found, { ...fault, path: [server, ...fault.path] });
    else if (!refused.has(server)) servers[server] = read.value;
  }
  return { servers, problems };
}

const NAMED_HINT = 'Write {"mcpServers": {"NAME": {"command": "PROGRAM", "args": []}}}';

/** Returns the server that the fault is about. */
function reportFault(page: SettingsPage, servers: Node, { path, message, unknownKey }: ValueFault): string {
  const node = findNodeAtLocation(servers, [...path]) ?? servers;
  const key = keyPath("mcpServers", path);
  const type = unknownKey ? "settings_unknown_key" : "settings_type";
  const words = { message: `${key} ${message}. This server is not started.`, hint: "Fix or remove it." };
  addProblem(page, { type, offset: node.offset, key, ...words });
  return String(path[0]);
}

function nameFaults(names: readonly string[]): readonly ValueFault[] {
  const taken = new Map<string, string>();
  return names.flatMap((name): ValueFault[] => {
    const short = normalizeServerName(name);
    if (!isServerName(short))
      return [{ path: [name], message: "is not a name for a server: use 1 to 32 letters, digits, hyphens and single underscores" }];
    const other = taken.get(short.toLowerCase());
    taken.set(short.toLowerCase(), name);
    if (other === undefined) return [];
    return [{ path: [name], message: `and "${other}" would both be called ${short} in the names of their tools; rename one of them` }];
  });
}

function unknownKeyMessage(key: string, readers: FieldReaders, isRemote: boolean): string {
  const other = key in LOCAL || key in REMOTE;
  return other
    ? `does not apply to a server with ${isRemote ? '"url"' : '"command"'}`
    : `is unknown; known keys are ${Object.keys(readers).join(", ")}`;
}

/** Some clients write `streamable-http` for `http`. */
function serverType(value: unknown): ReturnType<ValueReader<McpServerTransport["type"]>> {
  return oneOf("stdio", "http", "sse")(value === "streamable-http" ? "http" : value);
}

/** The address may contain variables, so it is parsed only once they are known. */
function isAddress(value: string): boolean {
  return /^https?:\/\/./i.test(value) || value.startsWith("${");
}
