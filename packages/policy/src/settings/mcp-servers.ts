import { isObject, type PathUse } from "@assent/core";
import { findNodeAtLocation, getNodeValue, type Node } from "jsonc-parser";
import { isServerName, normalizeServerName } from "../rules/mcp-name.ts";
import type { SettingsProblem } from "./problem.ts";
import { readSettingsFile } from "./read-file.ts";
import {
  describeValue,
  listOf,
  oneOf,
  recordOf,
  text,
  textRecord,
  trueOrFalse,
  type ValueFault,
  type ValueReader,
  wholeNumber,
} from "./setting-values.ts";
import { addProblem, objectMembers, openPage, type SettingsPage } from "./settings-page.ts";

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

type EntryReaders = Readonly<Record<string, ValueReader<unknown>>>;

const BOTH: EntryReaders = {
  type: serverType,
  timeout: wholeNumber(1, 2_147_483_647),
  enabledTools: listOf(text("a tool name")),
  disabledTools: listOf(text("a tool name")),
  paths: recordOf(recordOf(oneOf("read", "write", "remove"))),
  trust: trueOrFalse,
  disabled: trueOrFalse,
};
const LOCAL: EntryReaders = { command: text("a program"), args: listOf(anyText), env: anyTextRecord, cwd: text("a directory") };
const REMOTE: EntryReaders = { url: text("an http or https URL", isAddress), headers: textRecord };

const mcpServer: ValueReader<McpServer> = (value) => {
  if (!isObject(value)) return { faults: [{ path: [], message: `must be an object, not ${describeValue(value)}` }] };
  if ("command" in value === "url" in value)
    return { faults: [{ path: [], message: 'needs either "command", a program to start, or "url", the address of a server' }] };
  const isRemote = "url" in value;
  const readers = { ...BOTH, ...(isRemote ? REMOTE : LOCAL) };
  const entry: Record<string, unknown> = isRemote ? { type: "http", headers: {} } : { type: "stdio", args: [], env: {} };
  const faults: ValueFault[] = [];
  for (const [key, one] of Object.entries(value)) {
    const reading = readers[key]?.(one);
    if (!reading) faults.push(unknownEntryKey(key, readers, isRemote));
    else if ("faults" in reading) faults.push(...reading.faults.map((fault) => ({ ...fault, path: [key, ...fault.path] })));
    else entry[key] = reading.value;
  }
  if (faults.length === 0 && (entry["type"] === "stdio") === isRemote)
    faults.push({
      path: ["type"],
      message: isRemote ? 'must be http or sse, because there is a "url"' : 'must be stdio, because there is a "command"',
    });
  return faults.length > 0 ? { faults } : { value: entry as unknown as McpServer }; // the readers checked every field
};

/** Reads servers by name. Two names that tools could not tell apart are refused. */
export const mcpServers: ValueReader<McpServers> = (value) => {
  if (!isObject(value)) return { faults: [{ path: [], message: `must be an object, not ${describeValue(value)}` }] };
  const faults: ValueFault[] = [...nameFaults(Object.keys(value))];
  const servers: Record<string, McpServer> = {};
  for (const [name, one] of Object.entries(value)) {
    const reading = mcpServer(one);
    if ("value" in reading) servers[name] = reading.value;
    else faults.push(...reading.faults.map((fault) => ({ ...fault, path: [name, ...fault.path] })));
  }
  return faults.length > 0 ? { faults } : { value: servers };
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
  const key = path.reduce<string>((at, step) => (typeof step === "number" ? `${at}[${step}]` : `${at}.${step}`), "mcpServers");
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

function unknownEntryKey(key: string, readers: EntryReaders, isRemote: boolean): ValueFault {
  const other = key in LOCAL || key in REMOTE;
  const message = other
    ? `does not apply to a server with ${isRemote ? '"url"' : '"command"'}`
    : `is unknown; known keys are ${Object.keys(readers).join(", ")}`;
  return { path: [key], message, unknownKey: true };
}

/** Some clients write `streamable-http` for `http`. */
function serverType(value: unknown): ReturnType<ValueReader<McpServerTransport["type"]>> {
  return oneOf("stdio", "http", "sse")(value === "streamable-http" ? "http" : value);
}

/** Also empty, for arguments and variables. */
function anyText(value: unknown): ReturnType<ValueReader<string>> {
  return typeof value === "string" ? { value } : { faults: [{ path: [], message: `must be a string, not ${describeValue(value)}` }] };
}

function anyTextRecord(value: unknown): ReturnType<ValueReader<Readonly<Record<string, string>>>> {
  if (!isObject(value)) return { faults: [{ path: [], message: `must be an object, not ${describeValue(value)}` }] };
  const wrong = Object.entries(value).filter(([, one]) => typeof one !== "string");
  if (wrong.length === 0) return { value: { ...(value as Readonly<Record<string, string>>) } }; // every value is a string
  return { faults: wrong.map(([name, one]) => ({ path: [name], message: `must be a string, not ${describeValue(one)}` })) };
}

/** The address may contain variables, so it is parsed only once they are known. */
function isAddress(value: string): boolean {
  return /^https?:\/\/./i.test(value) || value.startsWith("${");
}
