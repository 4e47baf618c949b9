import { resolve } from "node:path";
import { type Clock, type Digest, messageOf, ToolError } from "@assent/core";
import type { McpServer } from "@assent/policy";
import type {
  CallToolResult,
  Client,
  ElicitRequestParams,
  ElicitResult,
  Progress,
  Prompt,
  Tool as RemoteTool,
  Resource,
  ResourceTemplateType,
  ServerCapabilities,
} from "@modelcontextprotocol/client";
import type { ServerChannel } from "../connect/channel-transport.ts";
import { type Connection, type ConnectionDeps, connectChannel, connectServer, type ListKind } from "../connect/connect.ts";
import { describeListFailure, ServerError, type ServerFailure } from "../connect/failure.ts";
import { expandServer } from "./expand.ts";
import { createServerRedactor } from "./secrets.ts";

/** A server to use, with where its configuration comes from. */
export type ConfiguredServer = {
  /** As it appears in the names of tools. */
  readonly name: string;
  readonly server: McpServer;
  /** The file that configures it. */
  readonly file: string;
  /** What it says about its tools is believed. */
  readonly trusted: boolean;
  /** Configured by the user or the team, not by a project. */
  readonly isOwn: boolean;
  /** Its texts mention no variables. */
  readonly isLiteral?: true;
  /** The server is inside the program that drives Assent; nothing of how `server` is reached counts then. */
  readonly channel?: ServerChannel;
};

/** What a server offers. */
export type ServerLists = {
  readonly tools: readonly RemoteTool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
};

/** What a server says about itself, as far as clients in front of Assent need it. */
export type ServerAbout = {
  readonly capabilities: ServerCapabilities;
  readonly instructions?: string;
  /** Only listed for a client in front. */
  readonly templates: readonly ResourceTemplateType[];
};

/** The state of a server, for people. */
export type ServerState =
  | { readonly state: "disabled" | "starting" | "ready" | "closed" }
  | ({
      readonly state: "failed";
      /** Milliseconds since 1970; absent: it is not tried again by itself. */
      readonly retryAt?: number;
    } & ServerFailure);

/** A call of one tool, as it was listed when the call was judged. */
export type RemoteCall = {
  readonly id: string;
  readonly tool: RemoteTool;
  readonly input: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly progress: (progress: Progress) => void;
  /** Asks a person what the server wants to know. */
  readonly elicit: (request: ElicitRequestParams) => Promise<ElicitResult>;
};

/** One configured server: starts it, keeps it connected, and follows what it lists. */
export type ServerConnection = {
  readonly configured: ConfiguredServer;
  /** Digest of how the server is reached; the same name may later mean another server. */
  readonly identity: string;
  /** From where the server may read relative paths. */
  readonly directories: readonly string[];
  readonly state: () => ServerState;
  /** The last known lists, also while it is not connected. */
  readonly lists: () => ServerLists;
  /** The last known answer, also while it is not connected. */
  readonly about: () => ServerAbout;
  /** Starts it, unless it is running. Resolves when it is ready or has failed. */
  readonly start: () => Promise<void>;
  /** Ends it if it is running, and starts it. Calls that are under way fail. */
  readonly restart: () => Promise<void>;
  /** Why a call would fail now, as a sentence; undefined if it may succeed. */
  readonly obstacle: (tool: RemoteTool) => string | undefined;
  /** Rejects with a `ToolError`. */
  readonly call: (call: RemoteCall) => Promise<CallToolResult>;
  /** Uses the connection, after it is ready. Rejects with a `ServerError` if it is not. */
  readonly use: <T>(work: (client: Client) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
};

/** What a server listed in an earlier process. */
export type SeenServer = { readonly identity: string; readonly tools: readonly RemoteTool[] };

/** What a server connection needs. */
export type ServerDeps = Omit<ConnectionDeps, "listChanged" | "elicit" | "redact" | "runningCall"> & {
  readonly clock: Clock;
  readonly digest: Digest;
  /** The variables that the configuration may mention. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What a server of this name listed before; then it need not run to be described. */
  readonly seen?: (name: string) => SeenServer | undefined;
  /** Called when the state or a list changes. */
  readonly changed: () => void;
};

const NOTHING: ServerLists = { tools: [], prompts: [], resources: [] };

/** Pauses before a server is started again; after the last one it is not. */
const RETRY_MS = [1_000, 2_000, 4_000, 8_000, 16_000] as const;

/** A connection that lasted this long starts the pauses anew. */
const STABLE_MS = 60_000;

/** The SDK's own limit is disabled, because the dispatcher has one. */
const NO_LIMIT_MS = 2_147_483_647;

/** Creates the connection of a server without starting it. */
export function createServer(configured: ConfiguredServer, deps: ServerDeps): ServerConnection {
  const { name, server, file } = configured;
  const { clock, changed } = deps;
  const ending = new AbortController();
  let state: ServerState = { state: server.disabled ? "disabled" : "closed" };
  const identity = deps.digest.sha256(
    JSON.stringify(
      configured.channel
        ? ["channel", name]
        : [server.type, ...(server.type === "stdio" ? [server.command, server.args, server.cwd ?? ""] : [server.url])],
    ),
  );
  const seen = deps.seen?.(name);
  let lists: ServerLists = seen?.identity === identity ? { ...NOTHING, tools: seen.tools } : NOTHING;
  let about: ServerAbout = { capabilities: {}, templates: [] };
  let connection: Connection | undefined;
  let starting: Promise<void> | undefined;
  let listing: Promise<void> = Promise.resolve();
  /** Lists that changed and will be read again; until then, further changes need no other request. */
  const outdated = new Set<ListKind>();
  let failures = 0;
  let running: readonly RemoteCall[] = [];
  let cancelRetry: () => void = () => undefined;

  const become = (next: ServerState): void => {
    state = next;
    changed();
  };
  const fail = (error: unknown): void => {
    connection = undefined;
    if (ending.signal.aborted) return;
    const failure = error instanceof ServerError ? error.failure : { reason: messageOf(error), advice: "Check its configuration." };
    const pause = failure.final ? undefined : RETRY_MS[failures];
    failures += 1;
    become({ state: "failed", ...failure, ...(pause !== undefined && { retryAt: clock.now() + pause }) });
    if (pause !== undefined) cancelRetry = clock.timer(pause, () => void start());
  };
  const followChange = (kind: ListKind): void => {
    if (outdated.has(kind)) return;
    outdated.add(kind);
    if (connection) refresh(kind, connection.client);
  };
  const refresh = (kind: ListKind, client: Client): void => {
    listing = listing
      .then(() => {
        outdated.delete(kind);
        return listKind(client, kind);
      })
      .then((listed) => {
        lists = { ...lists, ...listed };
        changed();
      })
      .catch(() => undefined); // the last known list stays; a lost connection is reported as such
  };
  /** Servers on a pipe do not say which call they ask about. Calls that change something run one at a time, so it is the last. */
  const elicitInCall: ConnectionDeps["elicit"] = async (request) => running.at(-1)?.elicit(request) ?? { action: "cancel" };
  const runningCall = (): string | undefined => running.at(-1)?.id;
  const connect = async (): Promise<Connection> => {
    const connecting = { ...deps, listChanged: followChange, elicit: elicitInCall, runningCall };
    if (configured.channel) return await connectChannel(configured.channel, connecting, ending.signal);
    const expanded = configured.isLiteral ? { server } : expandServer(server, deps.environment);
    if ("missing" in expanded) throw missingVariables(expanded.missing, file);
    const redact = createServerRedactor(server, expanded.server, deps);
    return await connectServer(name, expanded.server, { ...connecting, redact }, ending.signal);
  };
  const open = async (): Promise<void> => {
    outdated.clear();
    const opened = await connect();
    const since = clock.now();
    let hasEnded = false;
    void opened.closed.then(() => {
      hasEnded = true;
      if (connection !== opened) return;
      if (clock.now() - since >= STABLE_MS) failures = 0;
      fail(opened.failure());
    });
    try {
      lists = await listAll(opened.client);
      about = await describeServer(opened.client, deps.inFront !== undefined);
    } catch (error) {
      const failure = hasEnded ? opened.failure() : new ServerError(describeListFailure(error), { cause: error });
      await opened.close();
      throw failure;
    }
    if (ending.signal.aborted) {
      await opened.close();
      return;
    }
    if (hasEnded) throw opened.failure();
    connection = opened;
    for (const kind of outdated) refresh(kind, opened.client); // it changed while it was read
    become({ state: "ready" });
  };
  const start = async (): Promise<void> => {
    if (state.state === "disabled" || state.state === "ready" || ending.signal.aborted) return;
    if (!starting) {
      cancelRetry();
      become({ state: "starting" });
      starting = open()
        .catch(fail)
        .finally(() => {
          starting = undefined;
        });
    }
    await starting;
  };
  const restart = async (): Promise<void> => {
    const last = connection;
    if (last) {
      connection = undefined;
      state = { state: "closed" };
      await last.close();
    }
    failures = 0;
    await start();
  };
  const describeState = (): string | undefined => {
    if (state.state === "ready" || state.state === "starting") return undefined;
    if (state.state !== "failed") return `The MCP server ${name} is ${state.state === "disabled" ? "disabled" : "not running"}.`;
    const retry =
      state.retryAt === undefined ? "" : ` Assent starts it again in ${Math.max(1, Math.ceil((state.retryAt - clock.now()) / 1000))} s.`;
    return `The MCP server ${name} is not available. ${state.reason}${retry} ${state.advice}`;
  };
  const obstacle = (tool: RemoteTool): string | undefined => describeState() ?? describeChange(tool, lists.tools);
  const ready = async (): Promise<Connection> => {
    await starting;
    await listing;
    if (connection) return connection;
    throw new ServerError({ reason: describeState() ?? `The MCP server ${name} is not running.`, advice: "" });
  };
  return {
    configured,
    identity,
    directories: [deps.workspace, ...(server.type === "stdio" && server.cwd !== undefined ? [resolve(deps.workspace, server.cwd)] : [])],
    state: () => state,
    lists: () => lists,
    about: () => about,
    start,
    restart,
    obstacle,
    call: async (call) => {
      const { tool, input, signal, progress } = call;
      const used = await ready().catch((error: unknown) => {
        throw new ToolError(messageOf(error).trim(), "mcp_server_unavailable");
      });
      const change = describeChange(tool, lists.tools);
      if (change !== undefined) throw new ToolError(change, "tool_changed");
      running = [...running, call];
      try {
        const options = { signal, timeout: NO_LIMIT_MS, onprogress: progress };
        return await used.client.callTool({ name: tool.name, arguments: { ...input } }, options);
      } catch (error) {
        if (signal.aborted) throw error;
        if (connection === used)
          throw new ToolError(`The MCP server ${name} reports: ${messageOf(error)}`, "mcp_tool_error", { cause: error });
        const lost = `The MCP server ${name} ended while the call ran, so it may have had an effect. ${used.failure().failure.reason}`;
        throw new ToolError(lost, "mcp_server_unavailable", { cause: error });
      } finally {
        running = running.filter((one) => one !== call);
      }
    },
    use: async (work) => work((await ready()).client),
    close: async () => {
      cancelRetry();
      ending.abort();
      const last = connection;
      connection = undefined;
      if (state.state !== "disabled") state = { state: "closed" };
      await starting;
      await last?.close();
    },
  };
}

function describeChange(tool: RemoteTool, now: readonly RemoteTool[]): string | undefined {
  const current = now.find(({ name }) => name === tool.name);
  if (!current) return `The server no longer offers the tool ${tool.name}.`;
  if (current === tool || JSON.stringify(current) === JSON.stringify(tool)) return undefined;
  return `The server changed the tool ${tool.name} after this call was proposed. Propose it again.`;
}

async function listAll(client: Client): Promise<ServerLists> {
  const lists = await Promise.all((["tools", "prompts", "resources"] as const).map((kind) => listKind(client, kind)));
  return Object.assign({}, NOTHING, ...lists);
}

async function describeServer(client: Client, withTemplates: boolean): Promise<ServerAbout> {
  const capabilities = client.getServerCapabilities() ?? {};
  const instructions = client.getInstructions();
  const listed = withTemplates && capabilities.resources ? await client.listResourceTemplates().catch(() => undefined) : undefined;
  return { capabilities, templates: listed?.resourceTemplates ?? [], ...(instructions !== undefined && { instructions }) };
}

/** Nothing if the server does not have this kind. */
async function listKind(client: Client, kind: ListKind): Promise<Partial<ServerLists>> {
  if (!client.getServerCapabilities()?.[kind]) return {};
  const options = { cacheMode: "refresh" } as const;
  switch (kind) {
    case "tools":
      return { tools: (await client.listTools(undefined, options)).tools };
    case "prompts":
      return { prompts: (await client.listPrompts(undefined, options)).prompts };
    case "resources":
      return { resources: (await client.listResources(undefined, options)).resources };
    default:
      return kind satisfies never;
  }
}

function missingVariables(missing: readonly { readonly key: string; readonly variable: string }[], file: string): ServerError {
  const named = missing.map(({ key, variable }) => `\${${variable}} in "${key}"`).join(", ");
  const [first] = missing;
  const reason = `Its configuration in ${file} uses variables that are not set: ${named}.`;
  return new ServerError({ reason, advice: `Set them, or give a default: \${${first?.variable}:-default}.`, final: true });
}
