import { randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { type Clock, messageOf } from "@assent/core";
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { type FrontParts, openFront } from "./front.ts";
import { readClient } from "./read-client.ts";

/** What serving clients over HTTP needs. */
export type HttpGateway = FrontParts & {
  /** 0 takes a free port. */
  readonly port: number;
  readonly clock: Clock;
  /** A client without an open request for this long is ended, because a client that crashes does not say so over HTTP. */
  readonly idleMs: number;
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
export async function serveOnHttp({ port, failed, clock, idleMs, ...parts }: HttpGateway): Promise<HttpGatewayServer> {
  const token = randomBytes(32).toString("base64url");
  const clients = createClients(parts, (left) => clock.timer(idleMs, left));
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
    const asked = readRequest(request, gone.signal);
    if (!asked) return await send(refusal(400, "Assent cannot read this request."), response);
    const refused = refuse(asked, token);
    if (refused) return await send(refused, response);
    const body = request.method === "POST" ? await readBody(request) : undefined;
    await send(
      body === "invalid" ? refusal(400, "The body must be JSON of at most 64 MB.") : await clients.answer(asked, body, gone.signal),
      response,
    );
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

/** Calls back when a client was silent for too long. Returns a function that stops waiting. */
type WhenIdle = (left: () => void) => () => void;

type Clients = { readonly answer: HttpClient["handle"]; readonly close: () => Promise<void> };

type HttpClient = {
  /** The signal aborts when the request is answered, or its connection is gone. */
  readonly handle: (request: Request, body: unknown, over: AbortSignal) => Promise<Response>;
  readonly end: () => Promise<void>;
};

/** A client of the older protocol has a session of HTTP. One of the newer protocol is known by its name. */
function createClients(parts: FrontParts, whenIdle: WhenIdle): Clients {
  const sessions = new Map<string, HttpClient>();
  const named = new Map<string, Promise<HttpClient>>();
  let starting = 0; // clients whose servers have not started yet
  const isFull = (): boolean => sessions.size + starting + named.size >= MOST_CLIENTS;
  const full = (): Response => refusal(503, `The gateway serves at most ${MOST_CLIENTS} clients.`);

  const openSession: HttpClient["handle"] = async (request, body, over) => {
    const client = readClient(body);
    if (client?.era !== "legacy") return refusal(404, "There is no such session. Send initialize first.");
    const front = await openFront(client, parts);
    const server = front.makeServer();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, opened),
      onsessionclosed: () => opened.end(),
    });
    const opened = endIfIdle(whenIdle, {
      handle: (asked, sent) => transport.handleRequest(asked, { parsedBody: sent }),
      end: async () => {
        sessions.delete(transport.sessionId ?? "");
        await transport.close();
        await front.close();
      },
    });
    front.announceTo(server);
    await server.connect(transport);
    const response = await opened.handle(request, body, over);
    if (transport.sessionId === undefined) await opened.end();
    return response;
  };
  const openNamed = async (name: string, body: unknown): Promise<HttpClient> => {
    const client = readClient(body) ?? { name: "unnamed client", title: "unnamed client", version: "", capabilities: {}, era: "modern" };
    const front = await openFront(client, parts);
    const handler = createMcpHandler(() => front.makeServer(), { legacy: "reject", maxRequestBodySize: LONGEST_BODY });
    front.listChanged((kind) => handler.bus.publish({ kind: `${kind}_list_changed` }));
    return endIfIdle(whenIdle, {
      handle: (request, sent) => handler.fetch(request, { parsedBody: sent }),
      end: async () => {
        named.delete(name);
        await handler.close();
        await front.close();
      },
    });
  };
  return {
    answer: async (request, body, over) => {
      if (await isLegacyRequest(request, body)) {
        const known = sessions.get(request.headers.get("mcp-session-id") ?? "");
        if (known) return await known.handle(request, body, over);
        if (isFull()) return full();
        starting += 1;
        return await openSession(request, body, over).finally(() => {
          starting -= 1;
        });
      }
      const name = readClient(body)?.name ?? "";
      const known = named.get(name);
      if (!known && isFull()) return full();
      const opening = known ?? openNamed(name, body);
      named.set(name, opening);
      opening.catch(() => named.delete(name));
      return await (await opening).handle(request, body, over);
    },
    close: async () => {
      const modern = await Promise.all([...named.values()].map((one) => one.catch(() => undefined)));
      await Promise.allSettled([...sessions.values(), ...modern].map((one) => one?.end()));
    },
  };
}

/** Ends a client once, also if it was silent for too long. */
function endIfIdle(whenIdle: WhenIdle, { handle, end }: HttpClient): HttpClient {
  let open = 0;
  let ended: Promise<void> | undefined;
  let stopTimer: (() => void) | undefined;
  const endOnce = (): Promise<void> => {
    stopTimer?.();
    ended ??= end();
    return ended;
  };
  return {
    end: endOnce,
    handle: (request, body, over) => {
      const left = (): void => {
        open -= 1;
        if (open === 0 && !ended) stopTimer = whenIdle(() => void endOnce().catch(() => undefined));
      };
      open += 1;
      stopTimer?.();
      if (over.aborted) left();
      else over.addEventListener("abort", left, { once: true });
      return handle(request, body, over);
    },
  };
}

/** Undefined if the host, the address or the method is not one of HTTP. */
function readRequest(request: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = "GET", url = "/", headers, headersDistinct } = request;
  if ((headersDistinct["host"]?.length ?? 0) > 1) return undefined; // `headers` has only the first
  try {
    return new Request(`http://${headers.host ?? "unknown"}${url}`, { method, headers: headersOf(request), signal });
  } catch {
    return undefined;
  }
}

function headersOf({ headers }: IncomingMessage): Headers {
  const result = new Headers();
  for (const [name, value] of Object.entries(headers)) for (const one of [value ?? []].flat()) result.append(name, one);
  return result;
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let length = 0;
  if (Number(request.headers["content-length"]) > LONGEST_BODY) return "invalid";
  try {
    for await (const piece of request) {
      length += piece.length;
      if (length > LONGEST_BODY) return "invalid";
      pieces.push(piece);
    }
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
