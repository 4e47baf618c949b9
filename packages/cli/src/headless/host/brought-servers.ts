import { isObject, type JsonObject } from "@assent/core";
import { isJsonObject } from "@assent/core/parts";
import type { ConfiguredServer } from "@assent/mcp";
import { isServerName, normalizeServerName, readMcpText } from "@assent/policy";
import { HostError } from "./error.ts";
import type { HostLink } from "./link.ts";

/** MCP servers that a host brings along: its own, which it answers for, and others that Assent starts. */
export type BroughtServers = {
  readonly list: () => readonly ConfiguredServer[];
  /** Takes `sdkMcpServers` and `mcpServers` of `initialize`. */
  readonly take: (fields: JsonObject) => void;
  /** Handles what a server of the host sends by itself. */
  readonly deliver: (fields: JsonObject) => JsonObject;
};

export function broughtServers(link: HostLink, warn: (code: string, message: string) => void): BroughtServers {
  const listeners = new Map<string, (message: JsonObject) => void>();
  let servers: readonly ConfiguredServer[] = [];
  const ownServer = (written: string): ConfiguredServer => ({
    name: normalizeServerName(written),
    server: { type: "stdio", command: "", args: [], env: {} },
    ...{ file: "initialize", trusted: false, isOwn: true },
    channel: {
      send: (message, signal) => sendMessage(link, written, message, signal),
      listen: (listener) => void listeners.set(written, listener),
    },
  });
  return {
    list: () => servers,
    take: ({ sdkMcpServers, mcpServers }) => {
      const own = namesIn(sdkMcpServers).filter((name) => {
        const isUsable = isServerName(normalizeServerName(name));
        if (!isUsable) warn("option_not_honored", `initialize.sdkMcpServers: '${name.slice(0, 80)}' is not a name for a server.`);
        return isUsable;
      });
      const others = readMcpText("initialize", JSON.stringify({ mcpServers: isObject(mcpServers) ? mcpServers : {} }));
      for (const { message } of others.problems) warn("option_not_honored", `initialize.${message}`);
      const started = Object.entries(others.servers).map(([written, server]) => ({
        ...{ name: normalizeServerName(written), server, file: "initialize", trusted: server.trust === true, isOwn: true },
      }));
      const byName = new Map([...started, ...own.map(ownServer)].map((server) => [server.name.toLowerCase(), server]));
      servers = [...byName.values()];
    },
    deliver: ({ server_name: name, message }) => {
      const listener = typeof name === "string" ? listeners.get(name) : undefined;
      if (!listener || !isJsonObject(message))
        throw new HostError("bad_answer", "There is no such MCP server, or the message is not an object.");
      listener(message);
      return {};
    },
  };
}

/** A list of names, or an object by name. */
function namesIn(given: unknown): readonly string[] {
  if (Array.isArray(given)) return given.filter((name) => typeof name === "string");
  return isObject(given) ? Object.keys(given) : [];
}

async function sendMessage(link: HostLink, server: string, message: JsonObject, signal: AbortSignal): Promise<JsonObject | undefined> {
  const replied = await link.request({ subtype: "mcp_message", server_name: server, message }, signal);
  if ("error" in replied) throw new Error(replied.error);
  if ("none" in replied) throw new Error("the program is gone");
  const answer = isObject(replied.value) ? replied.value["mcp_response"] : undefined;
  if (isJsonObject(answer)) return answer;
  if (message["id"] !== undefined && message["method"] !== undefined) throw new Error("it sent no mcp_response");
  return undefined;
}
