import type { Schemas, Tool } from "@assent/core";
import type { Tool as RemoteTool } from "@modelcontextprotocol/client";
import { makeTool } from "../tools/make-tool.ts";
import { assignNames, type DisabledTool } from "../tools/names.ts";
import { type ConfiguredServer, createServer, type ServerConnection, type ServerDeps } from "./server.ts";

/** All configured servers and their tools. */
export type McpServerSet = {
  readonly servers: readonly ServerConnection[];
  /** Starts all servers at once and returns at once. */
  readonly start: () => void;
  /** Resolves when every server is ready or has failed, but after `ms` at the latest. Starts them if necessary. */
  readonly settle: (ms: number) => Promise<void>;
  /** Everything that servers offer now, or offered last. The same list until something changes. */
  readonly tools: () => readonly Tool[];
  /** Tools that are not offered, with the reason. */
  readonly disabledTools: (server: string) => readonly DisabledTool[];
  /** Calls `listener` after each change of a state or a list. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Ends all servers. */
  readonly close: () => Promise<void>;
};

/** What a set of servers needs. */
export type ServerSetDeps = Omit<ServerDeps, "changed"> & { readonly schemas: Schemas };

type OfferedTools = { readonly of: readonly RemoteTool[]; readonly tools: readonly Tool[]; readonly disabled: readonly DisabledTool[] };

/** Creates the servers without starting them. */
export function createServerSet(configured: readonly ConfiguredServer[], deps: ServerSetDeps): McpServerSet {
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const servers = configured.map((one) => createServer(one, { ...deps, changed }));
  const made = new Map<ServerConnection, OfferedTools>();
  const offered = (server: ServerConnection): OfferedTools => {
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
    settle: async (ms) => {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const cancel = deps.clock.timer(ms, resolve, { keepsAlive: true });
      await Promise.race([startAll(), late]);
      cancel();
    },
    tools: () => {
      const now = servers.flatMap((server) => offered(server).tools);
      if (now.length !== all.length || now.some((tool, at) => tool !== all[at])) all = now;
      return all;
    },
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

function offerTools(connection: ServerConnection, { digest, schemas }: ServerSetDeps): Omit<OfferedTools, "of"> {
  const { name, server } = connection.configured;
  const { enabledTools, disabledTools = [] } = server;
  const listed = connection
    .lists()
    .tools.filter(({ name: tool }) => (enabledTools?.includes(tool) ?? true) && !disabledTools.includes(tool));
  const { names, disabled } = assignNames(
    name,
    listed.map((tool) => tool.name),
    digest,
  );
  const tools: Tool[] = [];
  const refused: DisabledTool[] = [...disabled];
  for (const remote of listed) {
    const assigned = names.get(remote.name);
    if (assigned === undefined) continue;
    const tool = makeTool(assigned, remote, connection, schemas);
    if ("reason" in tool) refused.push(tool);
    else tools.push(tool);
  }
  return { tools, disabled: refused };
}
