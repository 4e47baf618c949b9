import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Files, isObject } from "@assent/core";
import type { McpServerSet, SeenServer } from "@assent/mcp";

export type RecordedServer = SeenServer & { readonly names: readonly string[] };

const LONGEST_RECORD = 2_000_000;

/** Writes down the tools of each server after every change, so that `explain` and `policy check` know them without starting it. Closing waits for it. */
export function recordSeenTools(set: McpServerSet, directory: string, files: Pick<Files, "replace">): McpServerSet {
  let writing: Promise<void> = Promise.resolve();
  const recorded = new Map<string, unknown>();
  const record = (server: McpServerSet["servers"][number]): void => {
    const { name } = server.configured;
    const { tools } = server.lists();
    if (server.state().state !== "ready" || recorded.get(name) === tools) return;
    recorded.set(name, tools);
    const names = set.tools().flatMap((tool) => (tool.name.startsWith(`mcp__${name}__`) ? [tool.name] : []));
    const text = JSON.stringify({ identity: server.identity, names, tools } satisfies RecordedServer);
    const file = recordFile(directory, name);
    if (text.length > LONGEST_RECORD || text === readIfThere(file)) return;
    writing = writing.then(() => files.replace(file, text, { mode: 0o600 })).catch(() => undefined); // a missing record only means less help
  };
  set.subscribe(() => set.servers.forEach(record));
  const close = async (): Promise<void> => {
    await set.close();
    await writing;
  };
  return { ...set, close };
}

/** Undefined if the server never ran, or its record cannot be read. */
export function readSeenTools(directory: string, server: string): RecordedServer | undefined {
  try {
    const value: unknown = JSON.parse(readIfThere(recordFile(directory, server)) ?? "null");
    const isRecord = isObject(value) && typeof value["identity"] === "string" && [value["names"], value["tools"]].every(Array.isArray);
    return isRecord ? (value as unknown as RecordedServer) : undefined; // written above, in a directory that only Assent writes
  } catch {
    return undefined;
  }
}

/** The names of servers have no characters that a path could misread. */
function recordFile(directory: string, server: string): string {
  return join(directory, `mcp-tools-${server.toLowerCase()}.json`);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
