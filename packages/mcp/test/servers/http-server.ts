import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export type HttpServer = {
  readonly url: string;
  /** Every request as "METHOD path", with `bearer` if it had a token. */
  readonly seen: string[];
  /** Makes all access tokens invalid; refresh tokens stay valid. */
  readonly expire: () => void;
  /** Makes everything invalid. */
  readonly revoke: () => void;
};

type Flow = { readonly challenge: string; readonly redirect: string };

/** An MCP server on loopback: streamable HTTP (`/mcp`, with or without OAuth), or the older SSE (`/sse`). */
export async function startHttpServer(
  t: TestContext,
  options: { readonly oauth?: boolean; readonly sseOnly?: boolean } = {},
): Promise<HttpServer> {
  const seen: string[] = [];
  const codes = new Map<string, Flow>();
  const access = new Set<string>();
  const refresh = new Set<string>();
  let base = "";
  const json = (response: ServerResponse, value: unknown, status = 200): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  };
  const issue = (): object => {
    const [token, renewal] = [randomBytes(8).toString("hex"), randomBytes(8).toString("hex")];
    access.add(token);
    refresh.add(renewal);
    return { access_token: token, token_type: "Bearer", expires_in: 3600, refresh_token: renewal };
  };
  const grantToken = (form: URLSearchParams, response: ServerResponse): void => {
    const flow = codes.get(form.get("code") ?? "");
    const proof = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const byCode =
      form.get("grant_type") === "authorization_code" && flow?.challenge === proof && flow.redirect === form.get("redirect_uri");
    const byRefresh = form.get("grant_type") === "refresh_token" && refresh.delete(form.get("refresh_token") ?? "");
    codes.delete(form.get("code") ?? "");
    if (byCode || byRefresh) json(response, issue());
    else json(response, { error: "invalid_grant" }, 400);
  };
  const routes: Record<string, (request: IncomingMessage, response: ServerResponse, body: string, url: URL) => void> = {
    "GET /.well-known/oauth-protected-resource/mcp": (_request, response) =>
      json(response, { resource: `${base}/mcp`, authorization_servers: [base] }),
    "GET /.well-known/oauth-authorization-server": (_request, response) =>
      json(response, {
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        registration_endpoint: `${base}/register`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
      }),
    "POST /register": (_request, response, body) => json(response, { ...JSON.parse(body), client_id: "client" }, 201),
    "GET /authorize": (_request, response, _body, { searchParams }) => {
      const code = randomBytes(8).toString("hex");
      const redirect = searchParams.get("redirect_uri") ?? "";
      codes.set(code, { challenge: searchParams.get("code_challenge") ?? "", redirect });
      const back = new URL(redirect);
      back.searchParams.set("code", code);
      back.searchParams.set("state", searchParams.get("state") ?? "");
      response.writeHead(302, { location: back.href }).end();
    },
    "POST /token": (_request, response, body) => grantToken(new URLSearchParams(body), response),
    "POST /mcp": (request, response, body) => {
      const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
      if (options.oauth && !access.has(token)) {
        const challenge = `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`;
        response.writeHead(401, { "www-authenticate": challenge }).end();
      } else if (options.sseOnly) response.writeHead(405).end();
      else {
        const reply = answer(JSON.parse(body), request);
        if (reply) json(response, reply);
        else response.writeHead(202).end();
      }
    },
  };
  let stream: ServerResponse | undefined;
  if (options.sseOnly) {
    routes["GET /mcp"] = (_request, response) => {
      stream = response.writeHead(200, { "content-type": "text/event-stream" });
      stream.write("event: endpoint\ndata: /messages\n\n");
    };
    routes["POST /messages"] = (request, response, body) => {
      const reply = answer(JSON.parse(body), request);
      response.writeHead(202).end();
      if (reply) stream?.write(`event: message\ndata: ${JSON.stringify(reply)}\n\n`);
    };
  }
  const server: Server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const url = new URL(request.url ?? "/", base);
      const name = `${request.method} ${url.pathname}`;
      seen.push(request.headers.authorization === undefined ? name : `${name} bearer`);
      const route = routes[name];
      if (route) route(request, response, body, url);
      else response.writeHead(request.method === "GET" && url.pathname === "/mcp" ? 405 : 404).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${base}/mcp`,
    seen,
    expire: () => access.clear(),
    revoke: () => {
      access.clear();
      refresh.clear();
    },
  };
}

type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly text?: string } };
};

function answer({ id, method, params }: Message, request: IncomingMessage): object | undefined {
  if (id === undefined) return undefined;
  const result = (value: object): object => ({ jsonrpc: "2.0", id, result: value });
  switch (method) {
    case "initialize":
      return result({ protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "http", version: "1" } });
    case "tools/list":
      return result({ tools: [{ name: "echo", inputSchema: { type: "object", properties: { text: { type: "string" } } } }] });
    case "tools/call":
      return result({ content: [{ type: "text", text: `${params?.arguments?.text} ${request.headers["x-team"] ?? ""}`.trim() }] });
    default:
      return { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } };
  }
}
