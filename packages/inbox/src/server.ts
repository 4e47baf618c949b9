import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isTooDeep } from "@assent/core";
import { type Access, createAccess, SECURITY_HEADERS } from "./access.ts";
import { readAnswers, readCancelTarget } from "./answers.ts";
import { type InboxDesk, TIMELINE_EVENTS } from "./desk.ts";
import { streamChanges } from "./stream.ts";

/** The files of the page. */
export type PageFiles = { readonly script: string; readonly style: string };

/** Options of `serveInbox`. */
export type InboxOptions = {
  readonly desk: InboxDesk;
  readonly page: PageFiles;
  /** 0 takes a free port. */
  readonly port: number;
  /** Called with a new link after each login, because a link works once. */
  readonly loggedIn?: (nextLink: string) => void;
  readonly failed?: (error: unknown) => void;
};

/** A running server of the page. */
export type InboxServer = {
  readonly port: number;
  readonly link: () => string;
  readonly close: () => Promise<void>;
};

/** Serves the page on the loopback address. Rejects if the port is taken. */
export async function serveInbox(options: InboxOptions): Promise<InboxServer> {
  let answerRequest: Handler = (_request, response) => void response.destroy();
  const server = createServer(LIMITS, (request, response) => {
    Promise.resolve(answerRequest(request, response)).catch((error: unknown) => {
      options.failed?.(error);
      if (!response.headersSent)
        sendError(response, 500, "failed", "The request failed. The terminal where 'assent inbox' runs shows the reason.");
      else response.destroy();
    });
  });
  server.maxConnections = MOST_CONNECTIONS;
  const port = await listen(server, options.port);
  const access = createAccess([`http://127.0.0.1:${port}`, `http://localhost:${port}`]);
  answerRequest = createHandler(options, access);
  return {
    port,
    link: access.link,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Other users can connect, too, and must not use up the files and memory of this process, which also runs answered calls. */
const MOST_CONNECTIONS = 200;
const LIMITS = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 2_000 };

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** A path may end with one variable part, written as `*`. */
type Route = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly isPublic?: true;
  readonly isStream?: true;
  readonly handle: (exchange: Exchange) => Promise<void> | void;
};

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse; readonly rest: string };

function createHandler({ desk, page, loggedIn }: InboxOptions, access: Access): Handler {
  const file =
    (type: string, text: string): Route["handle"] =>
    ({ response }) =>
      send(response, 200, type, text);
  const found = (response: ServerResponse, value: unknown): void =>
    value === undefined ? sendError(response, 404, "unknown_id", "This no longer exists.") : sendJson(response, 200, value);
  const routes: readonly Route[] = [
    { method: "GET", path: "/", isPublic: true, handle: file("text/html", SHELL) },
    { method: "GET", path: "/app.js", isPublic: true, handle: file("text/javascript", page.script) },
    { method: "GET", path: "/app.css", isPublic: true, handle: file("text/css", page.style) },
    { method: "GET", path: "/icon.svg", isPublic: true, handle: file("image/svg+xml", ICON) },
    {
      method: "POST",
      path: "/login",
      isPublic: true,
      handle: async ({ request, response }) => {
        const login = access.login((await readJson(request, LONGEST_LOGIN))["token"]);
        if (login === undefined)
          return sendError(response, 401, "bad_token", "This link was used before. Take the newest one from the terminal.");
        response.setHeader("set-cookie", login.cookie);
        sendJson(response, 200, { key: login.key });
        loggedIn?.(access.link());
      },
    },
    { method: "GET", path: "/api/stream", isStream: true, handle: ({ request, response }) => streamChanges(desk, request, response) },
    { method: "GET", path: "/api/waiting", handle: async ({ response }) => sendJson(response, 200, await desk.waiting()) },
    { method: "GET", path: "/api/cards/*", handle: async ({ response, rest }) => found(response, await desk.card(rest)) },
    { method: "POST", path: "/api/reveal/*", handle: async ({ response, rest }) => found(response, await desk.reveal(rest)) },
    {
      method: "POST",
      path: "/api/answers",
      handle: async ({ request, response }) => {
        const answers = readAnswers(await readJson(request));
        if (typeof answers === "string") return sendError(response, 400, "bad_answer", answers);
        const results = [];
        for (const answer of answers) results.push(await desk.answer(answer));
        sendJson(response, results.every(({ result }) => result === "saved") ? 200 : 409, results);
      },
    },
    { method: "GET", path: "/api/sessions", handle: async ({ response }) => sendJson(response, 200, await desk.sessions()) },
    {
      method: "GET",
      path: "/api/sessions/*",
      handle: async ({ request, response, rest }) => found(response, await desk.timeline(rest, lastOf(request))),
    },
    { method: "GET", path: "/api/export/*", handle: async ({ response, rest }) => sendExport(response, rest, await desk.export(rest)) },
    { method: "GET", path: "/api/grants", handle: async ({ response }) => sendJson(response, 200, await desk.grants()) },
    { method: "POST", path: "/api/undo/*", handle: async ({ response, rest }) => sendJson(response, 200, await desk.undo(rest)) },
    {
      method: "POST",
      path: "/api/cancel/*",
      handle: async ({ request, response, rest }) => {
        const target = readCancelTarget(await readJson(request));
        if (target === undefined) return sendError(response, 400, "bad_request", "Send {}, { call } or { task }.");
        sendJson(response, 200, await desk.cancel(rest, target));
      },
    },
    { method: "POST", path: "/api/revoke/*", handle: async ({ response, rest }) => sendJson(response, 200, await desk.revoke(rest)) },
  ];
  return async (request, response) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    const { method = "", headers, headersDistinct, url = "/" } = request;
    const path = url.split("?", 1)[0] ?? "/";
    const known = routes.filter((route) => restOf(route, path) !== undefined);
    const route = known.find((one) => one.method === method);
    const { isPublic = false, isStream = false } = route ?? {};
    const refusal = access.refuse({ method, headers, hosts: headersDistinct["host"] ?? [], isPublic, isStream });
    if (refusal) return sendError(response, refusal.status, refusal.type, refusal.message);
    if (!route)
      return known.length > 0
        ? sendError(response, 405, "bad_method", "This address needs another method.")
        : sendError(response, 404, "unknown_address", "There is nothing at this address.");
    try {
      await route.handle({ request, response, rest: restOf(route, path) ?? "" });
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
      sendError(response, 400, "bad_request", error.message);
    }
  };
}

function restOf({ path }: Route, asked: string): string | undefined {
  if (!path.endsWith("*")) return asked === path ? "" : undefined;
  const rest = asked.slice(path.length - 1);
  return asked.startsWith(path.slice(0, -1)) && ID.test(rest) ? rest : undefined;
}

const ID = /^[\w-]{1,128}$/;

/** Public, because it has no data. The script loads everything else. */
const SHELL = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Assent inbox</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/app.css">
<script type="module" src="/app.js"></script>
</head>
<body><div id="app"><p>Loading …</p></div><noscript>The inbox needs JavaScript. In a terminal, use: assent approvals</noscript></body>
</html>
`;

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#17693a"/><path d="m4 8 3 3 5-6" fill="none" stroke="#fff" stroke-width="2"/></svg>`;

const MOST_EVENTS = 100_000;

/** How many events are wanted: `?last=N`. */
function lastOf({ url = "" }: IncomingMessage): number {
  const last = Number(new URLSearchParams(url.split("?", 2)[1]).get("last") ?? TIMELINE_EVENTS);
  if (Number.isSafeInteger(last) && last > 0 && last <= MOST_EVENTS) return last;
  throw new BadRequest(`'last' is a number from 1 to ${MOST_EVENTS}.`);
}

class BadRequest extends Error {}

const LONGEST_BODY = 8 * 1024 * 1024;
/** Read from anyone. */
const LONGEST_LOGIN = 1024;

async function readJson(request: IncomingMessage, longest: number = LONGEST_BODY): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += (chunk as Buffer).length;
    if (length > longest) throw new BadRequest("The request is too long.");
    chunks.push(chunk as Buffer);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  if (isTooDeep(text)) throw new BadRequest("The request has more than 512 levels.");
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // reported below
  }
  throw new BadRequest("The request is not a JSON object.");
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { "content-type": `${type}; charset=utf-8` }).end(text);
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  send(response, status, "application/json", JSON.stringify(value));
}

function sendError(response: ServerResponse, status: number, type: string, message: string): void {
  sendJson(response, status, { error: { type, message } });
}

function sendExport(response: ServerResponse, session: string, text: string | undefined): void {
  if (text === undefined) sendError(response, 404, "unknown_id", "There is no such session.");
  else {
    response.setHeader("content-disposition", `attachment; filename="${session}.md"`);
    send(response, 200, "text/markdown", text);
  }
}
