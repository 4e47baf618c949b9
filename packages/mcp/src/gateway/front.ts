import { isDeepStrictEqual } from "node:util";
import type { Content, Digest } from "@assent/core";
import type {
  CallToolResult,
  Client,
  CompleteRequest,
  CompleteResult,
  Progress,
  ResourceTemplateType,
  Result,
} from "@modelcontextprotocol/client";
import {
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerCapabilities,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { ClientInFront } from "../connect/connect.ts";
import type { ServerConnection, ServerLists } from "../servers/server.ts";
import type { OfferedTool } from "../servers/servers.ts";
import type { ClientAnswer, ConnectedClient, GatewayCall, GatewayConnection, GatewayEnd, OpenConnection } from "./desk.ts";
import { readingName } from "./reading-tools.ts";
import { errorResult, toCallResult } from "./result.ts";

/** A connected client: what its MCP servers look like, and how to end it. */
export type Front = {
  /** Makes a server of the SDK for a connection, or for a single request over HTTP. */
  readonly makeServer: () => Server;
  /** Sends list changes to the client of this server. */
  readonly announceTo: (server: Server) => void;
  /** Calls the listener when a list changes. */
  readonly listChanged: (listener: (kind: "tools" | "prompts" | "resources") => void) => void;
  readonly close: () => Promise<void>;
};

/** What every connection needs. */
export type FrontParts = Pick<ClientInFront, "taken"> & {
  readonly open: OpenConnection;
  readonly version: string;
  readonly digest: Digest;
};

type ReceivedResult = { readonly result: Result; readonly content: Content };

/** Opens the connection of a client and presents its servers as one. */
export async function openFront(client: ConnectedClient, { open, version, digest, taken }: FrontParts): Promise<Front> {
  const contexts = new Map<string, ServerContext>();
  const received = new Map<string, ReceivedResult>();
  const made = new Set<Server>();
  const inFront: ClientInFront = {
    capabilities: client.era === "legacy" ? client.capabilities : {},
    request: async (method, params, call) => {
      const request = { method, params: { ...params } };
      const context = call === undefined ? undefined : contexts.get(call);
      if (context) return await context.mcpReq.send(request, { timeout: PERSON_MS });
      const [server] = made;
      if (!server) throw new ProtocolError(ProtocolErrorCode.InternalError, "The client is gone.");
      return await server.request(request, { timeout: PERSON_MS });
    },
    notify: (told, call) => {
      const context = call === undefined ? undefined : contexts.get(call);
      const sent = context ? [context.mcpReq.notify(told)] : [...made].map((server) => tell(server, told));
      for (const one of sent) one.catch(() => undefined); // the client is gone
    },
    progress: (call, progress) => tellProgress(contexts.get(call), progress),
    received: (call, result, content) => void received.set(call, { result, content }),
    ...(taken && { taken }),
  };
  const connection = await open(client, inFront);
  const listeners = new Set<(kind: "tools" | "prompts" | "resources") => void>();
  let before = listsOf(connection);
  connection.servers.subscribe(() => {
    const now = listsOf(connection);
    const kinds = (["tools", "prompts", "resources"] as const).filter((kind) => !isDeepStrictEqual(now[kind], before[kind]));
    before = now;
    for (const kind of kinds) for (const listener of listeners) listener(kind);
  });
  /** Runs a request through the desk, and returns what the server sent unless something changed it. */
  const decide = async (tool: string, input: GatewayCall["input"], context: ServerContext): Promise<DecidedRequest> => {
    const ids: string[] = [];
    try {
      const end = await connection.call({
        ...{
          tool,
          input,
          signal: context.mcpReq.signal,
          canAskBetween: client.era === "modern" && client.capabilities.elicitation !== undefined,
        },
        started: (callId) => {
          ids.push(callId);
          contexts.set(callId, context);
        },
        ...(client.era === "legacy" && client.capabilities.elicitation && { ask: (question, signal) => askNow(context, question, signal) }),
        ...readAnswer(context),
        ...(context.http?.req && { lost: context.http.req.signal }),
      });
      if (end.state !== "ended") return { end };
      const sent = received.get(end.callId);
      return sent && isDeepStrictEqual(sent.content, end.result.content) ? { end, sent: sent.result } : { end };
    } finally {
      for (const id of ids) {
        contexts.delete(id);
        received.delete(id);
      }
    }
  };
  return {
    makeServer: () => {
      const server = makeServer(connection, { decide, version, digest });
      made.add(server);
      const { onclose } = server;
      server.onclose = () => {
        made.delete(server);
        onclose?.();
      };
      return server;
    },
    announceTo: (server) =>
      void listeners.add((kind) => {
        const sent = {
          tools: () => server.sendToolListChanged(),
          prompts: () => server.sendPromptListChanged(),
          resources: () => server.sendResourceListChanged(),
        };
        sent[kind]().catch(() => undefined); // the client is gone
      }),
    listChanged: (listener) => void listeners.add(listener),
    close: connection.close,
  };
}

function tell(server: Server, told: Parameters<ClientInFront["notify"]>[0]): Promise<void> {
  return told.method === "notifications/message" ? server.sendLoggingMessage(told.params) : server.sendResourceUpdated(told.params);
}

/** How long a person at the client may take. The client has its own limits. */
const PERSON_MS = 24 * 60 * 60 * 1_000;

type DecidedRequest = { readonly end: GatewayEnd; readonly sent?: Result };

type ServerParts = {
  readonly decide: (tool: string, input: GatewayCall["input"], context: ServerContext) => Promise<DecidedRequest>;
  readonly version: string;
  readonly digest: Digest;
};

function makeServer(connection: GatewayConnection, { decide, version, digest }: ServerParts): Server {
  const { servers } = connection.servers;
  const isAlone = servers.length === 1;
  const nameOf = (server: ServerConnection, name: string): string => (isAlone ? name : `${server.configured.name}__${name}`);
  let named = { tools: connection.servers.tools(), offers: nameTools(connection, nameOf) };
  const offers = (): ReadonlyMap<string, OfferedTool> => {
    const tools = connection.servers.tools();
    if (tools !== named.tools) named = { tools, offers: nameTools(connection, nameOf) };
    return named.offers;
  };
  const instructions = servers.flatMap((server) => server.about().instructions ?? []).join("\n\n");
  const server = new Server(
    { name: "assent", title: `Assent in front of ${servers.map(({ configured }) => configured.name).join(", ")}`, version },
    { capabilities: capabilitiesOf(servers), ...(instructions !== "" && { instructions }) },
  );
  const { resources, prompts, completions, logging } = server.getCapabilities();
  server.setRequestHandler("tools/list", () => ({
    tools: [...offers()].map(([name, { remote }]) => ({ ...remote, name })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const offer = offers().get(params.name);
    if (!offer) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    const { end, sent } = await decide(offer.tool.name, params.arguments ?? {}, context);
    if (end.state === "waiting" && end.question !== undefined) return needAnswer(end.approval, end.question);
    if (end.state === "refused") throw new ProtocolError(ProtocolErrorCode.InvalidParams, end.text);
    if (end.state === "waiting") return errorResult(end.text);
    const result = (sent as CallToolResult | undefined) ?? toCallResult(end.result);
    return server.projectCallToolResult(result, offer.remote.outputSchema);
  });
  if (resources) {
    const holderOf = (uri: string): ServerConnection => findHolder(servers, uri);
    server.setRequestHandler("resources/list", () => ({ resources: servers.flatMap((one) => [...one.lists().resources]) }));
    server.setRequestHandler("resources/templates/list", async () => ({ resourceTemplates: await listTemplates(servers) }));
    server.setRequestHandler("resources/read", ({ params: { uri } }, context) =>
      read(decide, context, { tool: readingName(holderOf(uri).configured.name, "resource", digest), input: { uri } }),
    );
    if (resources.subscribe) {
      server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => holderOf(uri).use((one) => one.subscribeResource({ uri })));
      server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) =>
        holderOf(uri).use((one) => one.unsubscribeResource({ uri })),
      );
    }
  }
  const findPrompt = (name: string): readonly [ServerConnection, string] => {
    for (const one of servers) for (const prompt of one.lists().prompts) if (nameOf(one, prompt.name) === name) return [one, prompt.name];
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`);
  };
  if (prompts) {
    server.setRequestHandler("prompts/list", () => ({
      prompts: servers.flatMap((one) => one.lists().prompts.map((prompt) => ({ ...prompt, name: nameOf(one, prompt.name) }))),
    }));
    server.setRequestHandler("prompts/get", ({ params }, context) => {
      const [one, name] = findPrompt(params.name);
      const input = { name, ...(params.arguments && { arguments: params.arguments }) };
      return read(decide, context, { tool: readingName(one.configured.name, "prompt", digest), input });
    });
  }
  if (completions)
    server.setRequestHandler("completion/complete", async ({ params }) => {
      const { ref } = params;
      if (ref.type === "ref/resource") return await complete(findHolder(servers, ref.uri), params);
      const [one, name] = findPrompt(ref.name);
      return await complete(one, { ...params, ref: { ...ref, name } });
    });
  if (logging)
    server.setRequestHandler("logging/setLevel", async ({ params: { level } }) => {
      await Promise.all(
        servers.filter((one) => one.about().capabilities.logging).map((one) => one.use((used) => used.setLoggingLevel(level))),
      );
      return {};
    });
  return server;
}

async function complete(server: ServerConnection, params: CompleteRequest["params"]): Promise<CompleteResult> {
  return await server.use((client: Client) => client.complete(params));
}

/** The tools by the names that the client sees. Names that two servers would share are left out, because a call could mean either. */
function nameTools(
  { servers }: GatewayConnection,
  nameOf: (server: ServerConnection, name: string) => string,
): ReadonlyMap<string, OfferedTool> {
  const named = Map.groupBy(servers.offers(), ({ server, remote }) => nameOf(server, remote.name));
  return new Map([...named].flatMap(([name, [offer, ...others]]) => (offer && others.length === 0 ? [[name, offer]] : [])));
}

function capabilitiesOf(servers: readonly ServerConnection[]): ServerCapabilities {
  const all = servers.map((server) => server.about().capabilities);
  const has = (name: "resources" | "prompts" | "completions" | "logging"): boolean => all.some((one) => one[name] !== undefined);
  return {
    tools: { listChanged: true },
    ...(has("resources") && { resources: { listChanged: true, subscribe: all.some(({ resources }) => resources?.subscribe) } }),
    ...(has("prompts") && { prompts: { listChanged: true } }),
    ...(has("completions") && { completions: {} }),
    ...(has("logging") && { logging: {} }),
  };
}

type ReadRequest = { readonly tool: string; readonly input: GatewayCall["input"] };

/** Reads a resource or a prompt. */
async function read<R extends Result>(
  decide: ServerParts["decide"],
  context: ServerContext,
  { tool, input }: ReadRequest,
): Promise<R | InputRequiredResult> {
  const { end, sent } = await decide(tool, input, context);
  if (sent) return sent as R;
  if (end.state === "waiting" && end.question !== undefined) return needAnswer(end.approval, end.question);
  const { result } = end.state === "ended" ? end : { result: { content: end.text } };
  const text = typeof result.content === "string" ? result.content : JSON.stringify(result.content);
  throw new ProtocolError(end.state === "refused" ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError, text);
}

/** The server that lists a resource; else the first one that has resources. */
function findHolder(servers: readonly ServerConnection[], uri: string): ServerConnection {
  const withResources = servers.filter((server) => server.about().capabilities.resources);
  const found =
    withResources.find((server) => server.lists().resources.some((one) => one.uri === uri)) ??
    withResources.find((server) => server.about().templates.some((one) => uri.startsWith(one.uriTemplate.split("{", 1)[0] ?? ""))) ??
    withResources[0];
  if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown resource: ${uri}`);
  return found;
}

async function listTemplates(servers: readonly ServerConnection[]): Promise<ResourceTemplateType[]> {
  return servers.flatMap((server) => [...server.about().templates]);
}

function listsOf({ servers }: GatewayConnection): ServerLists {
  const lists = servers.servers.map((server) => server.lists());
  return {
    tools: lists.flatMap(({ tools }) => tools),
    prompts: lists.flatMap(({ prompts }) => prompts),
    resources: lists.flatMap(({ resources }) => resources),
  };
}

function tellProgress(context: ServerContext | undefined, progress: Progress): void {
  const token = context?.mcpReq._meta?.progressToken;
  if (token === undefined) return;
  context?.mcpReq.notify({ method: "notifications/progress", params: { progressToken: token, ...progress } }).catch(() => undefined);
}

const APPROVE = "Approve";
const REJECT = "Reject";

function approvalForm(question: string): ElicitRequestFormParams {
  return {
    mode: "form",
    message: question,
    requestedSchema: {
      type: "object",
      properties: { answer: { type: "string", title: "May this run?", enum: [APPROVE, REJECT] } },
      required: ["answer"],
    },
  };
}

async function askNow({ mcpReq }: ServerContext, question: string, signal: AbortSignal): Promise<ClientAnswer> {
  const request = { method: "elicitation/create", params: { ...approvalForm(question) } } as const;
  return readResponse(await mcpReq.send(request, { signal, timeout: PERSON_MS }));
}

/** Only an explicit choice approves: a client may accept forms by itself. */
function readResponse({ action, content }: { readonly action?: unknown; readonly content?: unknown }): ClientAnswer {
  const answer: unknown = content && typeof content === "object" ? Reflect.get(content, "answer") : undefined;
  if (action === "decline" || (action === "accept" && answer === REJECT)) return "reject";
  return action === "accept" && answer === APPROVE ? "approve" : undefined;
}

/** The client asks its person and calls again; the state names the approval and nothing else. */
function needAnswer(approval: string, question: string): InputRequiredResult {
  return inputRequired({ inputRequests: { approval: inputRequired.elicit(approvalForm(question)) }, requestState: approval });
}

function readAnswer({ mcpReq }: ServerContext): Pick<GatewayCall, "answer"> {
  const approval = mcpReq.requestState<string>();
  if (approval === undefined) return {};
  const response = inputResponse(mcpReq.inputResponses, "approval");
  return { answer: { approval: String(approval), given: response.kind === "elicit" ? readResponse(response) : undefined } };
}
