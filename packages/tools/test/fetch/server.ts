import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { ToolResult } from "@assent/core";
import { validateBuildAndExecute } from "@assent/core/ungoverned";
import { createHostFiles } from "@assent/host";
import { type FetchDeps, fetchTool } from "../../src/builtin/fetch.ts";
import { scratch } from "../scratch.ts";

/** What a path is answered with. */
export type Route = (response: ServerResponse, request: IncomingMessage) => void;

/** A server on this machine, and everything it was asked for. */
export type Server = { readonly origin: string; readonly port: number; readonly asked: IncomingMessage[] };

/** Starts one; it goes away with the test, and so do connections to it. */
export async function server(
  t: TestContext,
  routes: Readonly<Record<string, Route>>,
  at: { host?: string; port?: number } = {},
): Promise<Server> {
  const asked: IncomingMessage[] = [];
  const made = createServer({ maxHeaderSize: 65_536 }, (request, response) => {
    asked.push(request);
    const route = routes[new URL(request.url ?? "/", "http://x").pathname];
    if (route) route(response, request);
    else response.writeHead(404).end("none");
  });
  made.listen(at.port ?? 0, at.host ?? "127.0.0.1");
  await once(made, "listening");
  t.after(() => {
    made.closeAllConnections();
    made.close();
  });
  const { port, address } = made.address() as AddressInfo;
  return { origin: `http://${address}:${port}`, port, asked };
}

/** A route that answers with a text of this type. */
export function text(body: string | Buffer, type = "text/plain", headers: Readonly<Record<string, string>> = {}): Route {
  return (response) => void response.writeHead(200, { "content-type": type, ...headers }).end(body);
}

/** A route that leads elsewhere. */
export function redirect(location: string, status = 302): Route {
  return (response) => void response.writeHead(status, { location }).end();
}

/** Fetches without a runtime, so that only the tool itself speaks; the servers of this test may be reached. */
export function fetcher(t: TestContext, deps: Partial<FetchDeps> = {}): (input: object, signal?: AbortSignal) => Promise<ToolResult> {
  const root = scratch(t);
  const files = createHostFiles({ outputDirectory: join(root, "output") });
  const tool = fetchTool({ files, privateAllowed: () => true, ...deps });
  const ctx = { cwd: root, callId: "c1", sessionId: "s_1" };
  return (input, signal = new AbortController().signal) => validateBuildAndExecute(tool, input, signal, undefined, ctx);
}

/** What stands between the two lines of a frame, which must be whole. */
export function inside(result: ToolResult): string {
  const lines = String(result.content).split("\n");
  const mark = /^\[data from outside ([0-9a-f]{16}): /.exec(lines[0] ?? "")?.[1];
  if (mark === undefined || !lines.at(-1)?.startsWith(`[end of data from outside ${mark}`)) throw new Error(`no frame: ${result.content}`);
  return lines.slice(1, -1).join("\n");
}
