import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Content, messageOf, type Processes } from "@assent/core";
import type { McpServerTransport } from "@assent/policy";
import {
  Client,
  type ClientCapabilities,
  type CreateMessageResult,
  type ElicitRequestParams,
  type ElicitResult,
  type JsonSchemaType,
  type JsonSchemaValidator,
  type ListRootsResult,
  type LoggingMessageNotification,
  type Progress,
  ProtocolError,
  ProtocolErrorCode,
  type ResourceUpdatedNotification,
  type Result,
  SdkHttpError,
  // biome-ignore lint/suspicious/noDeprecatedImports: servers of the older protocol know no other transport
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { type CredentialStore, createAuthProvider } from "../oauth/credentials.ts";
import { ChannelTransport, type ServerChannel } from "./channel-transport.ts";
import { describeHttpFailure, describeProgramFailure, ServerError } from "./failure.ts";
import { ProcessTransport } from "./process-transport.ts";

/** How long a server may take to answer the first message. `npx` may have to install it first. */
const CONNECT_SECONDS = 60;

/** The kinds of things a server lists. */
export type ListKind = "tools" | "prompts" | "resources";

/** An MCP client that uses servers through Assent. What servers ask or tell reaches it as far as it can understand it. */
export type ClientInFront = {
  readonly capabilities: Pick<ClientCapabilities, "elicitation" | "sampling" | "roots">;
  /** Asks the client. `call` is the call that the server works on, if there is one. */
  readonly request: (
    method: "elicitation/create" | "sampling/createMessage" | "roots/list",
    params: Readonly<Record<string, unknown>>,
    call: string | undefined,
  ) => Promise<Result>;
  readonly notify: (told: LoggingMessageNotification | ResourceUpdatedNotification, call: string | undefined) => void;
  /** Progress of a call. Every notice reaches the client, while `update` of a tool drops some. */
  readonly progress: (call: string, progress: Progress) => void;
  /** The result of a call as the server sent it, and as Assent records it unless a hook changes it. */
  readonly received: (call: string, result: Result, content: Content) => void;
  /** Resolves when the client took what was sent to it. */
  readonly taken?: () => Promise<void>;
};

/** What a connection uses, and what a server may ask of it. */
export type ConnectionDeps = {
  readonly processes: Pick<Processes, "open">;
  /** The environment of programs, without what the server's own `env` adds. */
  readonly programEnvironment: Readonly<Record<string, string>>;
  /** The directory that servers get as their root. */
  readonly workspace: string;
  readonly version: string;
  /** Asks a person for a server. */
  readonly elicit: (request: ElicitRequestParams) => Promise<ElicitResult>;
  /** Logins of people at servers with an address. */
  readonly credentials?: CredentialStore;
  /** Hides secrets of the server's configuration in why it failed. */
  readonly redact: (text: string) => string;
  readonly listChanged: (kind: ListKind) => void;
  readonly inFront?: ClientInFront;
  /** The call that the server works on now. */
  readonly runningCall?: () => string | undefined;
};

type ClientDeps = Omit<ConnectionDeps, "redact">;

/** A connection to a server that answered. */
export type Connection = {
  readonly client: Client;
  readonly pid?: number;
  /** Resolves when the connection is lost or closed. */
  readonly closed: Promise<void>;
  /** Why it was lost. */
  readonly failure: () => ServerError;
  readonly close: () => Promise<void>;
};

/** Connects to a server whose variables are replaced. Rejects with a `ServerError`. */
export async function connectServer(
  name: string,
  server: McpServerTransport,
  deps: ConnectionDeps,
  signal: AbortSignal,
): Promise<Connection> {
  return server.type === "stdio" ? await connectProgram(server, deps, signal) : await connectAddress(name, server, deps, signal);
}

/** Connects to a server inside the program that drives Assent. Rejects with a `ServerError`. */
export async function connectChannel(channel: ServerChannel, deps: ClientDeps, signal: AbortSignal): Promise<Connection> {
  const transport = new ChannelTransport(channel);
  const client = createClient(deps, "legacy");
  const failure = (): ServerError => {
    const reason = `The program that drives Assent did not answer for it: ${messageOf(transport.lastFailure ?? "it is gone")}.`;
    return new ServerError({ reason, advice: "Look at that program.", final: true });
  };
  try {
    const { closed } = await attach(client, transport, signal);
    return { client, closed, close: () => client.close(), failure };
  } catch (error) {
    transport.lastFailure ??= error;
    throw failure();
  }
}

type StdioServer = Extract<McpServerTransport, { readonly type: "stdio" }>;
type RemoteServer = Exclude<McpServerTransport, StdioServer>;

async function connectProgram(server: StdioServer, deps: ConnectionDeps, signal: AbortSignal): Promise<Connection> {
  const { command: file, args, env, cwd = "." } = server;
  const program = { file, args, cwd: resolve(deps.workspace, cwd), env: { ...deps.programEnvironment, ...env } };
  const transport = new ProcessTransport(program, deps.processes, deps.inFront?.taken);
  const client = createClient(deps, "legacy");
  const failure = (error: unknown): ServerError => {
    const { report } = transport;
    return new ServerError(describeProgramFailure(error, { report, redact: deps.redact, seconds: CONNECT_SECONDS }), { cause: error });
  };
  try {
    const { closed } = await attach(client, transport, signal);
    const close = async (): Promise<void> => {
      await client.close();
      await transport.close();
    };
    return { client, closed, close, failure: () => failure(undefined), ...(transport.pid !== undefined && { pid: transport.pid }) };
  } catch (error) {
    await transport.close();
    throw failure(error);
  }
}

/** Tries streamable HTTP first, then the older SSE, unless the configuration names one. */
async function connectAddress(name: string, server: RemoteServer, deps: ConnectionDeps, signal: AbortSignal): Promise<Connection> {
  const { type, url, headers } = server;
  const hasKey = Object.keys(headers).some((header) => header.toLowerCase() === "authorization");
  const { redact } = deps;
  const failure = (error: unknown): ServerError => {
    const described = describeHttpFailure(error, { url, server: name, hasKey, seconds: CONNECT_SECONDS });
    return new ServerError({ ...described, reason: redact(described.reason) }, { cause: error });
  };
  if (!URL.canParse(url)) throw new ServerError({ reason: `"${redact(url)}" is not an address.`, advice: 'Check "url".', final: true });
  const { credentials } = deps;
  const isLoggedIn = credentials?.read(url)?.tokens !== undefined;
  const options = { requestInit: { headers }, ...(credentials && isLoggedIn && { authProvider: createAuthProvider(url, credentials) }) };
  const open = async (make: () => Transport): Promise<Connection> => {
    const client = createClient(deps, "auto");
    const { closed } = await attach(client, make(), signal);
    return { client, closed, close: () => client.close(), failure: () => failure(new Error("the server closed the connection")) };
  };
  const openSse = (): Promise<Connection> => open(() => new SSEClientTransport(new URL(url), options));
  try {
    if (type === "sse") return await openSse();
    return await open(() => new StreamableHTTPClientTransport(new URL(url), options)).catch((error: unknown) => {
      if (!isSseServerError(error)) throw error;
      return openSse().catch(() => Promise.reject(error));
    });
  } catch (error) {
    throw failure(error);
  }
}

/** A server that speaks only SSE answers the first POST with one of these. */
function isSseServerError(error: unknown): boolean {
  return error instanceof SdkHttpError && [400, 404, 405].includes(error.status);
}

/** Connects a client; `closed` resolves when the connection ends. */
async function attach(client: Client, transport: Transport, signal: AbortSignal): Promise<Pick<Connection, "closed">> {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  client.onclose = close;
  client.onerror = () => undefined; // failed requests reject where they were made
  await client.connect(transport, { signal, timeout: CONNECT_SECONDS * 1000 });
  return { closed };
}

/**
 * Refuses schemas of results that do not compile. A result is not compared with the schema of the server that sent it: a pattern could take minutes,
 * in which this process does nothing else.
 */
class SchemaCompiler extends AjvJsonSchemaValidator {
  override getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    super.getValidator<T>(schema);
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  }
}

function createClient(deps: ClientDeps, mode: "legacy" | "auto"): Client {
  const { elicit, listChanged, inFront } = deps;
  const follow = (kind: ListKind): { autoRefresh: false; debounceMs: number; onChanged: () => void } => ({
    autoRefresh: false,
    debounceMs: 0,
    onChanged: () => listChanged(kind),
  });
  const client = new Client(
    { name: "assent", version: deps.version },
    {
      capabilities: {
        roots: {},
        elicitation: { form: {}, url: {} },
        ...(inFront?.capabilities.sampling && { sampling: inFront.capabilities.sampling }),
      },
      versionNegotiation: { mode },
      jsonSchemaValidator: new SchemaCompiler(),
      listChanged: { tools: follow("tools"), prompts: follow("prompts"), resources: follow("resources") },
    },
  );
  client.setRequestHandler("roots/list", async () =>
    inFront?.capabilities.roots
      ? ((await inFront.request("roots/list", {}, deps.runningCall?.())) as ListRootsResult)
      : { roots: [{ uri: pathToFileURL(deps.workspace).href, name: "workspace" }] },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => elicit(params));
  if (inFront) relay(client, inFront, deps.runningCall);
  client.fallbackRequestHandler = ({ method }) => {
    if (method === "sampling/createMessage")
      throw new ProtocolError(
        ProtocolErrorCode.MethodNotFound,
        "Assent does not let servers use its model. Return what the model needs as a tool result.",
      );
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `Assent does not know ${method}.`);
  };
  return client;
}

/** Passes on what servers tell, and what they ask of the client's model. */
function relay(client: Client, inFront: ClientInFront, runningCall: ConnectionDeps["runningCall"]): void {
  client.setNotificationHandler("notifications/message", ({ params }) =>
    inFront.notify({ method: "notifications/message", params }, runningCall?.()),
  );
  client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
    inFront.notify({ method: "notifications/resources/updated", params }, runningCall?.()),
  );
  if (inFront.capabilities.sampling)
    client.setRequestHandler("sampling/createMessage", async ({ params }) => {
      const { _meta, ...asked } = params;
      return (await inFront.request("sampling/createMessage", asked, runningCall?.())) as CreateMessageResult;
    });
}
