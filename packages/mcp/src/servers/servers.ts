import type { Schemas, Tool } from "@assent/core";
import type { Tool as RemoteTool } from "@modelcontextprotocol/client";
import { makeTool } from "../tools/make-tool.ts";
import { assignNames, type DisabledTool, READING_NAMES } from "../tools/names.ts";
import { type ConfiguredServer, createServer, type ServerConnection, type ServerDeps } from "./server.ts";

/** All configured servers and their tools. */
export type McpServerSet = {
  readonly servers: readonly ServerConnection[];
  /** Starts all servers at once and returns at once. */
  readonly start: () => void;
  /** Resolves when every server is ready or has failed, but after `ms` at the latest, or when it is cancelled. Starts them if necessary. */
  readonly settle: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Everything that servers offer now, or offered last. The same list until something changes. */
  readonly tools: () => readonly Tool[];
  /** The tools with what their servers say about them. */
  readonly offers: () => readonly OfferedTool[];
  /** Tools that are not offered, with the reason. */
  readonly disabledTools: (server: string) => readonly DisabledTool[];
  /** Calls `listener` after each change of a state or a list. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Ends all servers. */
  readonly close: () => Promise<void>;
};

/** What a set of servers needs. */
export type ServerSetDeps = Omit<ServerDeps, "changed"> & { readonly schemas: Schemas };

/** A tool of Assent, and the tool of a server that it calls. */
export type OfferedTool = { readonly tool: Tool; readonly remote: RemoteTool; readonly server: ServerConnection };

type ServerOffer = {
  readonly of: readonly RemoteTool[];
  readonly tools: readonly OfferedTool[];
  readonly disabled: readonly DisabledTool[];
};

/** Creates the servers without starting them. */
export function createServerSet(configured: readonly ConfiguredServer[], deps: ServerSetDeps): McpServerSet {
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const servers = configured.map((one) => createServer(one, { ...deps, changed }));
  const made = new Map<ServerConnection, ServerOffer>();
  const offered = (server: ServerConnection): ServerOffer => {
    const { tools: of } = server.lists();
    const before = made.get(server);
    if (before?.of === of) return before;
    const next = { of, ...offerTools(server, deps) };
    made.set(server, next);
    return next;
  };
  let all: readonly Tool[] = [];
  let startedAll: Promise<unknown> | undefined;
  const startAll = (): Promise<unknown> => {
    startedAll ??= Promise.all(servers.map((server) => server.start()));
    return startedAll;
  };
  return {
    servers,
    start: () => void startAll(),
    settle: async (ms, signal) => {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const cancel = deps.clock.timer(ms, resolve, { keepsAlive: true });
      signal?.addEventListener("abort", () => resolve(), { once: true });
      if (!signal?.aborted) await Promise.race([startAll(), late]);
      cancel();
    },
    tools: () => {
      const now = servers.flatMap((server) => offered(server).tools.map(({ tool }) => tool));
      if (now.length !== all.length || now.some((tool, at) => tool !== all[at])) all = now;
      return all;
    },
    offers: () => servers.flatMap((server) => offered(server).tools),
    disabledTools: (name) => servers.filter(({ configured: { name: own } }) => own === name).flatMap((server) => offered(server).disabled),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {
      listeners.clear();
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

/** Compiling the schemas of more tools would hold up everything else for seconds. */
const MOST_TOOLS = 1_000;

function offerTools(connection: ServerConnection, { digest, schemas, inFront }: ServerSetDeps): Omit<ServerOffer, "of"> {
  const { name, server } = connection.configured;
  const { enabledTools, disabledTools = [] } = server;
  const chosen = connection
    .lists()
    .tools.filter(({ name: tool }) => (enabledTools?.includes(tool) ?? true) && !disabledTools.includes(tool));
  const listed = chosen.slice(0, MOST_TOOLS);
  const { names, disabled } = assignNames(
    name,
    listed.map((tool) => tool.name),
    digest,
  );
  const reserved: readonly string[] = inFront ? Object.values(READING_NAMES) : [];
  const tools: OfferedTool[] = [];
  const refused: DisabledTool[] = [...disabled];
  const over = chosen.length - listed.length;
  if (over > 0)
    refused.push({ tool: `${over} more`, reason: `At most ${MOST_TOOLS} tools of a server are offered. Choose with "enabledTools".` });
  for (const remote of listed) {
    const assigned = names.get(remote.name);
    if (assigned === undefined) continue;
    if (reserved.includes(remote.name.toLowerCase())) {
      refused.push({ tool: remote.name, reason: "Rules use this name for the server's resources or prompts." });
      continue;
    }
    const tool = makeTool(assigned, remote, { connection, schemas, inFront });
    if ("reason" in tool) refused.push(tool);
    else tools.push({ tool, remote, server: connection });
  }
  return { tools, disabled: refused };
}
