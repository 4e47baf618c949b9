import { join } from "node:path";
import type { Tool } from "@assent/core";
import { ajvSchemas, createCommandEnvironment, type HostPorts } from "@assent/host";
import type { ClientInFront, ConfiguredServer, McpServerSet, ServerConnection } from "@assent/mcp";
import type { Settings } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { warn } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { stateDirectory } from "../../store/location.ts";
import { VERSION } from "../../version.ts";
import type { OpenedPolicy } from "../policy.ts";
import { readSeenTools, recordSeenTools } from "./seen-tools.ts";

export type SessionServers = {
  /** Undefined until the library is loaded. */
  readonly current: () => McpServerSet | undefined;
  /** Before a request: waits for servers once, as long as settings say and until it is cancelled. Returns the tools of all servers. */
  readonly tools: (signal?: AbortSignal) => Promise<readonly Tool[]>;
  /** Replaces prompts and mentioned resources of servers in what a person says. Rejects with a sentence. Cancelled, it returns what was said. */
  readonly expand: (said: string, signal: AbortSignal) => Promise<string>;
  /** For programs, in the words of Claude Code's protocol. */
  readonly status: () => readonly ServerStatus[];
  readonly close: () => Promise<void>;
};

export type ServerStatus = {
  readonly name: string;
  readonly status: "connected" | "failed" | "needs-auth" | "pending" | "disabled";
  readonly error?: string;
};

export type SessionServerParts = {
  readonly servers: readonly ConfiguredServer[];
  readonly ports: HostPorts;
  readonly workspace: string;
  readonly settings: () => Settings;
  /** Servers that a host brings along, once it has joined. */
  readonly brought?: () => readonly ConfiguredServer[];
  /** The servers are only described: their tools are those of the last time. */
  readonly onlyDescribed?: true;
  readonly inFront?: ClientInFront;
};

/** Starts servers in the background. Undefined if none is configured or brought along; until there is one, the library is not loaded. */
export function startServers(context: Context, parts: SessionServerParts): SessionServers | undefined {
  const { servers: configured, brought } = parts;
  if (configured.length === 0 && !brought) return undefined;
  const opened: Promise<McpServerSet>[] = [];
  const current: McpServerSet[] = [];
  const waited = new Set<McpServerSet>();
  let known = configured;
  let all: readonly Tool[] = [];
  const open = (servers: readonly ConfiguredServer[]): void => {
    const opening = openServerSet(context, { ...parts, servers }).then((set) => {
      current.push(set);
      reportFailures(context, set);
      set.start();
      return set;
    });
    opening.catch((error: unknown) => void warn(context.io, `MCP servers could not be started: ${String(error)}`));
    opened.push(opening);
  };
  if (configured.length > 0) open(configured);
  /** A host says what it brings along after the session has begun. */
  const openBrought = (): void => {
    const isKnown = (name: string): boolean => known.some((one) => one.name.toLowerCase() === name.toLowerCase());
    const late = (brought?.() ?? []).filter(({ name }) => !isKnown(name));
    if (late.length === 0) return;
    known = [...known, ...late];
    open(late);
  };
  const settled = async (signal?: AbortSignal): Promise<readonly McpServerSet[]> => {
    openBrought();
    const sets = await Promise.all(opened);
    const waiting = sets.filter((set) => !waited.has(set));
    await Promise.all(waiting.map((set) => set.settle(parts.settings()["mcp.startWait"] * 1_000, signal)));
    if (signal?.aborted) return sets;
    for (const set of waiting) waited.add(set);
    return sets;
  };
  return {
    current: () => current[0],
    tools: async (signal) => {
      const now = (await settled(signal)).map((set) => set.tools());
      const [only = [], ...more] = now;
      const joined = more.length === 0 ? only : now.flat();
      if (joined.length !== all.length || joined.some((tool, at) => tool !== all[at])) all = joined;
      return all;
    },
    expand: async (said, signal) => {
      if (!/^\/mcp__|(?:^|\s)@[\w-]+:\S/.test(said)) return said;
      const fill = async (): Promise<string> => {
        const servers = (await settled()).flatMap((set) => set.servers);
        if (servers.length === 0) return said;
        const { expandPrompt } = await import("@assent/mcp");
        return await expandPrompt(said, servers, signal);
      };
      const { promise: cancelled, resolve } = Promise.withResolvers<string>();
      signal.addEventListener("abort", () => resolve(said), { once: true });
      return signal.aborted ? said : await Promise.race([fill(), cancelled]);
    },
    status: () => {
      const running = current.flatMap(({ servers }) => servers.map(statusOf));
      const pending = known.filter(({ name }) => !running.some((one) => one.name === name));
      return [...running, ...pending.map(({ name, server }) => ({ name, status: server.disabled ? "disabled" : "pending" }) as const)];
    },
    close: async () => {
      for (const set of opened) await set.then((one) => one.close()).catch(() => undefined);
    },
  };
}

function statusOf(server: ServerConnection): ServerStatus {
  const { name } = server.configured;
  const state = server.state();
  if (state.state === "failed")
    return { name, status: state.needsLogin ? "needs-auth" : "failed", error: `${state.reason} ${state.advice}` };
  return { name, status: state.state === "ready" ? "connected" : state.state === "disabled" ? "disabled" : "pending" };
}

export async function openServerSet(context: Context, parts: SessionServerParts): Promise<McpServerSet> {
  const { io } = context;
  const { servers, ports, workspace, settings, onlyDescribed, inFront } = parts;
  const directory = await stateDirectory(context);
  const { createCredentialStore, createServerSet } = await import("@assent/mcp");
  redirectWarnings(context);
  const { processes, clock, digest, files } = ports;
  const { secretEnv, projectSecretEnv } = settings();
  const set = createServerSet(servers, {
    ...(onlyDescribed && { seen: (name: string) => readSeenTools(directory, name) }),
    ...{ processes, clock, digest, workspace, schemas: ajvSchemas(), version: VERSION },
    credentials: createCredentialStore(credentialFile(directory), files),
    ...(inFront && { inFront }),
    environment: io.env,
    programEnvironment: createCommandEnvironment(io.env, { secretEnv, projectSecretEnv }),
  });
  return onlyDescribed ? set : recordSeenTools(set, directory, files);
}

const LIBRARY = "[mcp-sdk]";

/** The protocol's library warns on the console, with texts of servers, which would disturb the terminal. */
function redirectWarnings({ io }: Context): void {
  const { warn: write } = console;
  console.warn = (first: unknown, ...rest: readonly unknown[]): void => {
    if (typeof first === "string" && first.startsWith(LIBRARY)) void warn(io, oneLine(`MCP:${first.slice(LIBRARY.length)}`));
    else write.call(console, first, ...rest);
  };
}

export async function offerSeenTools(context: Context, policy: OpenedPolicy, ports: HostPorts): Promise<OpenedPolicy> {
  const { mcp, source, workspace } = policy;
  if (mcp.servers.length === 0) return policy;
  const set = await openServerSet(context, { servers: mcp.servers, ports, workspace, settings: source.settings, onlyDescribed: true });
  policy.offerServerTools(set.tools());
  return policy;
}

/** In the state directory, which tools cannot read. */
export function credentialFile(directory: string): string {
  return join(directory, "mcp-logins.json");
}

/** Warns about each new failure of a server and about tools that cannot be used, and says when a server is back. */
export function reportFailures({ io }: Context, set: McpServerSet): void {
  const told = new Map<ServerConnection, string>();
  const tell = (text: string): void => void warn(io, oneLine(text));
  set.subscribe(() => {
    for (const server of set.servers) {
      const { name } = server.configured;
      const before = told.get(server);
      const state = server.state();
      if (state.state === "failed" && state.reason !== before) {
        told.set(server, state.reason);
        tell(`The MCP server ${name} is not available. ${state.reason} ${state.advice}`);
      }
      if (state.state === "ready") {
        if (before !== undefined) tell(`The MCP server ${name} is available again.`);
        told.delete(server);
        for (const { tool, reason } of set.disabledTools(name))
          tellOnce(tell, `The tool ${tool} of the MCP server ${name} is disabled: ${reason}`);
      }
    }
  });
  const said = new Set<string>();
  function tellOnce(say: (text: string) => void, text: string): void {
    if (said.has(text)) return;
    said.add(text);
    say(text);
  }
}
