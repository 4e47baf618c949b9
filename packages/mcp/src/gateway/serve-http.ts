import { randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { messageOf } from "@assent/core";
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  type McpHttpHandler,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { type Front, type FrontParts, openFront } from "./front.ts";
import { readClient } from "./read-client.ts";

/** What serving clients over HTTP needs. */
export type HttpGateway = FrontParts & {
  /** 0 takes a free port. */
  readonly port: number;
  readonly failed: (error: unknown) => void;
};

/** A running gateway. */
export type HttpGatewayServer = {
  readonly url: string;
  /** Every request needs it as `Authorization: Bearer`. */
  readonly token: string;
  readonly close: () => Promise<void>;
};

const LONGEST_BODY = 64 * 1024 * 1024;
const MOST_CLIENTS = 100;
const LOCAL = ["127.0.0.1", "localhost"];

/** Serves clients on the loopback address. Rejects if the port is taken. */
export async function serveOnHttp({ port, failed, ...parts }: HttpGateway): Promise<HttpGatewayServer> {
  const token = randomBytes(32).toString("base64url");
  const clients = createClients(parts);
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      failed(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { "content-type": "text/plain" }).end(`${messageOf(error)}\n`);
    });
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const asked = new Request(`http://${request.headers.host ?? "unknown"}${request.url ?? "/"}`, {
      ...{ method: request.method ?? "GET", headers: headersOf(request), signal: gone.signal },
    });
    const refused = refuse(asked, token);
    if (refused) return await send(refused, response);
    const body = request.method === "POST" ? await readBody(request) : undefined;
    await send(body === "invalid" ? refusal(400, "The body must be JSON of at most 64 MB.") : await clients.answer(asked, body), response);
  };
  const at = await listen(server, port);
  return {
    url: `http://127.0.0.1:${at}/mcp`,
    token,
    close: async () => {
      await clients.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Host and Origin first, so that a page in a browser learns nothing; then the token. */
function refuse(request: Request, token: string): Response | undefined {
  const foreign = hostHeaderValidationResponse(request, LOCAL) ?? originValidationResponse(request, LOCAL);
  if (foreign) return foreign;
  if (new URL(request.url).pathname !== "/mcp") return refusal(404, "The address ends with /mcp.");
  const given = Buffer.from(request.headers.get("authorization") ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return undefined;
  return refusal(401, "Send the token that 'assent mcp serve --http' printed, as Authorization: Bearer TOKEN.");
}

function refusal(status: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code: -32600, message } }, { status });
}

type Clients = { readonly answer: (request: Request, body: unknown) => Promise<Response>; readonly close: () => Promise<void> };

/** A client of the older protocol has a session of HTTP. One of the newer protocol is known by its name, and has a connection until the gateway ends. */
function createClients(parts: FrontParts): Clients {
  const sessions = new Map<string, { readonly transport: WebStandardStreamableHTTPServerTransport; readonly front: Front }>();
  const named = new Map<string, Promise<{ readonly handler: McpHttpHandler; readonly front: Front }>>();
  const isFull = (): boolean => sessions.size + named.size >= MOST_CLIENTS;
  const full = (): Response => refusal(503, `The gateway serves at most ${MOST_CLIENTS} clients.`);

  const openSession = async (request: Request, body: unknown): Promise<Response> => {
    const client = readClient(body);
    if (client?.era !== "legacy") return refusal(404, "There is no such session. Send initialize first.");
    const front = await openFront(client, parts);
    const server = front.makeServer();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, { transport, front }),
      onsessionclosed: async (id) => {
        sessions.delete(id);
        await front.close();
      },
    });
    front.announceTo(server);
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody: body });
    if (transport.sessionId === undefined) await front.close();
    return response;
  };
  const openNamed = async (body: unknown): Promise<{ readonly handler: McpHttpHandler; readonly front: Front }> => {
    const client = readClient(body) ?? { name: "unnamed client", title: "unnamed client", version: "", capabilities: {}, era: "modern" };
    const front = await openFront(client, parts);
    const handler = createMcpHandler(() => front.makeServer(), { legacy: "reject", maxRequestBodySize: LONGEST_BODY });
    front.listChanged((kind) => handler.bus.publish({ kind: `${kind}_list_changed` }));
    return { handler, front };
  };
  return {
    answer: async (request, body) => {
      if (await isLegacyRequest(request, body)) {
        const known = sessions.get(request.headers.get("mcp-session-id") ?? "");
        if (known) return await known.transport.handleRequest(request, { parsedBody: body });
        return isFull() ? full() : await openSession(request, body);
      }
      const name = readClient(body)?.name ?? "";
      const opened = named.get(name);
      if (!opened && isFull()) return full();
      const opening = opened ?? openNamed(body);
      named.set(name, opening);
      opening.catch(() => named.delete(name));
      return await (await opening).handler.fetch(request, { parsedBody: body });
    },
    close: async () => {
      const modern = await Promise.all([...named.values()].map((one) => one.catch(() => undefined)));
      for (const one of modern) await one?.handler.close();
      const fronts = [...[...sessions.values()].map(({ front }) => front), ...modern.flatMap((one) => one?.front ?? [])];
      await Promise.allSettled(fronts.map((front) => front.close()));
    },
  };
}

function headersOf({ headers }: IncomingMessage): Headers {
  const result = new Headers();
  for (const [name, value] of Object.entries(headers)) for (const one of [value ?? []].flat()) result.append(name, one);
  return result;
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of request) {
    length += piece.length;
    if (length > LONGEST_BODY) return "invalid";
    pieces.push(piece);
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString("utf8"));
  } catch {
    return "invalid";
  }
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (!answer.body) {
    response.end();
    return;
  }
  const body = Readable.fromWeb(answer.body as ReadableStream);
  body.on("error", () => response.destroy());
  response.on("close", () => body.destroy());
  body.pipe(response);
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}
