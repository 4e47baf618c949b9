import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createBareServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { httpFetch } from "../../src/http/fetch.ts";

type Route = (response: ServerResponse, request: IncomingMessage) => void;

const ROUTES: Readonly<Record<string, Route>> = {
  "/text": (response) => void response.writeHead(200, { "content-type": "text/plain", "x-twice": ["a", "b"] }).end("Grüße"),
  "/echo": (response, request) => void request.pipe(response.writeHead(201, { "x-said": String(request.headers["x-said"]) })),
  "/sent": (response, { headers, method }) =>
    void response.end(JSON.stringify({ method, type: headers["content-type"], length: headers["content-length"] })),
  "/refused": (response) => void response.writeHead(429, "Too Many", { "retry-after": "2" }).end('{"error":"slow down"}'),
  "/broken": (response) => void response.writeHead(500).end(),
  "/nothing": (response) => void response.writeHead(204).end(),
  "/moved": (response) => void response.writeHead(307, { location: "/echo" }).end(),
  "/zipped": (response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("small")),
  "/silent": () => undefined,
  "/begun": (response) => void response.writeHead(200).write("begun"),
  "/cut": (response) => void response.writeHead(200).write("begun", () => setImmediate(() => response.destroy())),
};

let origin = "";
const asked: IncomingMessage[] = [];
const server = createServer((request, response) => {
  asked.push(request);
  ROUTES[request.url ?? ""]?.(response, request);
});
before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

const post = {
  method: "POST",
  headers: { "content-type": "application/json", "x-said": "yes" },
  body: '{"n":1}',
};

/** All that a caller can see of an answer. */
async function seen(fetch: typeof globalThis.fetch, path: string, init?: RequestInit): Promise<object> {
  const response = await fetch(`${origin}${path}`, init);
  const { status, statusText, ok, type, headers } = response;
  const kept = ["content-type", "x-twice", "x-said", "retry-after"].map((name) => headers.get(name));
  return { status, statusText, ok, type, kept, text: await response.text() };
}

describe("the answer is what fetch gives", () => {
  const rows: readonly (readonly [what: string, path: string, init?: RequestInit])[] = [
    ["a text", "/text"],
    ["what was sent", "/echo", post],
    ["a method, a type, a length", "/sent", post],
    ["a method without a body", "/sent", { method: "DELETE" }],
    ["a refusal with its words", "/refused", post],
    ["a failure without any", "/broken", post],
    ["no body at all", "/nothing", post],
    ["a redirect, followed with what was sent", "/moved", post],
    ["what was compressed without being asked for", "/zipped"],
  ];
  for (const [what, path, init] of rows)
    test(what, async () => assert.deepEqual(await seen(httpFetch, path, init), await seen(globalThis.fetch, path, init)));

  test("a body that is not a string goes to Node's fetch", async () => {
    const form = (): FormData => {
      const made = new FormData();
      made.set("name", "value");
      return made;
    };
    const response = await httpFetch(`${origin}/echo`, { method: "POST", body: form() });
    assert.match(await response.text(), /name="name"\r\n\r\nvalue/);
  });

  test("everything else that an answer can be read as", async () => {
    const asBytes = await (await httpFetch(`${origin}/text`)).bytes();
    assert.equal(Buffer.from(asBytes).toString(), "Grüße");
    const first = await httpFetch(`${origin}/text`);
    assert.equal(await first.clone().text(), "Grüße");
    assert.deepEqual(await (await httpFetch(`${origin}/echo`, post)).json(), { n: 1 });
    assert.deepEqual(
      [...(await httpFetch(`${origin}/refused`)).headers].filter(([name]) => name === "retry-after"),
      [["retry-after", "2"]],
    );
  });
});

/** What somebody is told who asks, or who reads the answer. */
async function failure(
  fetch: typeof globalThis.fetch,
  path: string,
  init: RequestInit = {},
): Promise<{ error: unknown; said: readonly unknown[] }> {
  const error = await fetch(path, init).then(
    (response) =>
      response.text().then(
        () => undefined,
        (thrown: unknown) => thrown,
      ),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Error);
  const { name, message } = error;
  return { error, said: [name, message] };
}

/** The server sees the end of the connection that it was asked by first. */
function closed(): Promise<void> {
  const { socket } = asked[0] ?? assert.fail("nothing was asked");
  return new Promise((resolve) => socket.on("error", () => undefined).on("close", () => resolve()));
}

describe("what fails, fails as it does with fetch", () => {
  test("no server is listening", async () => {
    const closed = createBareServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const url = `http://127.0.0.1:${(closed.address() as AddressInfo).port}/`;
    closed.close();
    await once(closed, "close");
    const { error, said } = await failure(httpFetch, url, post);
    assert.deepEqual(said, (await failure(globalThis.fetch, url, post)).said);
    assert.equal((error as { cause: { code: string } }).cause.code, "ECONNREFUSED");
  });

  test("the connection is lost in the middle of an answer", async () => {
    const { error, said } = await failure(httpFetch, `${origin}/cut`);
    assert.deepEqual(said, (await failure(globalThis.fetch, `${origin}/cut`)).said);
    assert.equal((error as { cause: { code: string } }).cause.code, "ECONNRESET");
  });

  test("a redirect that was not wanted", async () => {
    const init = { redirect: "error" } as const;
    assert.deepEqual(
      (await failure(httpFetch, `${origin}/moved`, init)).said,
      (await failure(globalThis.fetch, `${origin}/moved`, init)).said,
    );
  });

  test("a key that cannot be sent is not told", async () => {
    const { error } = await failure(httpFetch, `${origin}/echo`, { ...post, headers: { authorization: "Bearer secret\nsecret" } });
    assert.doesNotMatch(String(error), /secret/);
  });

  test("an abort before the response rejects with its reason and closes the connection", async () => {
    const abort = new AbortController();
    const reason = new Error("enough");
    asked.length = 0;
    const failing = failure(httpFetch, `${origin}/silent`, { ...post, signal: abort.signal });
    while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const gone = closed();
    abort.abort(reason);
    assert.equal((await failing).error, reason);
    await gone;
  });

  test("an abort during the response rejects with its reason and closes the connection", async () => {
    const abort = new AbortController();
    const reason = new Error("enough");
    asked.length = 0;
    const response = await httpFetch(`${origin}/begun`, { ...post, signal: abort.signal });
    const reader = response.body?.getReader() ?? assert.fail("no body");
    await reader.read();
    const gone = closed();
    const next = reader.read();
    abort.abort(reason);
    await assert.rejects(next, (error) => error === reason);
    await gone;
  });

  test("an abort that was there before: nothing is sent", async () => {
    asked.length = 0;
    const reason = new Error("enough");
    assert.equal((await failure(httpFetch, `${origin}/text`, { signal: AbortSignal.abort(reason) })).error, reason);
    assert.equal(asked.length, 0);
  });

  test("cancelling the body closes the connection", async () => {
    asked.length = 0;
    const response = await httpFetch(`${origin}/begun`);
    const gone = closed();
    await response.body?.cancel();
    await gone;
  });
});

test("the next request goes over the same connection", async () => {
  asked.length = 0;
  for (let round = 0; round < 2; round += 1) await (await httpFetch(`${origin}/echo`, post)).text();
  assert.equal(asked.length, 2);
  assert.equal(asked[0]?.socket, asked[1]?.socket);
});

test("what comes is read while it comes", async () => {
  const slow: { more?: ServerResponse } = {};
  const other = createServer((_request, response) => {
    slow.more = response;
    response.write("one");
  }).listen(0, "127.0.0.1");
  await once(other, "listening");
  const response = await httpFetch(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
  const reader = response.body?.getReader() ?? assert.fail("no body");
  const heard = async (): Promise<string> => Buffer.from((await reader.read()).value ?? []).toString();
  assert.equal(await heard(), "one");
  slow.more?.end("two");
  assert.equal(await heard(), "two");
  assert.equal((await reader.read()).done, true);
  other.close();
});

/** Of a server at 127.0.0.1 that nobody knows, for as long as anybody will run this. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBkDCCATagAwIBAgIUeu9t9TQAnVmjlxHDZrHN/yvjHyAwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNjE1MTQ1NVoYDzIxMjYxMDIz
MTUxNDU1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQCH4mLo7cZmjrJ+GF41Y2bRCuOnc/ttcBSD+Wpa4TG0lDdq6eKy1Cs
tZVmEQfewZIuV7tv6Mhp7J0+CIcTt2Jgo2QwYjAdBgNVHQ4EFgQUhGOPsDI6dM5m
LX37vt6I/rCokGYwHwYDVR0jBBgwFoAUhGOPsDI6dM5mLX37vt6I/rCokGYwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
IQDhYqv8kgc3uvteadheaId+42Fd96fpEvvMUfLKmVFI2AIgDSc2d+73ZVvDZkL7
2DB5XqV0dysxzQrnguamyKTNkqo=
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgeS4VvvQGPvRinXRc
n6z1PT6ujFOzwH8ltwBVYDXy/GqhRANCAAQCH4mLo7cZmjrJ+GF41Y2bRCuOnc/t
tcBSD+Wpa4TG0lDdq6eKy1CstZVmEQfewZIuV7tv6Mhp7J0+CIcTt2Jg
-----END PRIVATE KEY-----
`;

const TRUSTING = `
const { httpFetch } = await import(${JSON.stringify(new URL("../../src/http/fetch.ts", import.meta.url).href)});
const said = await httpFetch(process.argv[1]).then((response) => response.text(), ({ message, cause }) => message + ": " + cause.code);
process.stdout.write(said);`;

for (const [what, extra, expected] of [
  ["a self-signed certificate is refused", undefined, "fetch failed: DEPTH_ZERO_SELF_SIGNED_CERT"],
  ["one that the environment vouches for is not", "certificate.pem", "secret"],
] as const)
  test(`https: ${what}`, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), "assent-http-"));
    writeFileSync(join(directory, "certificate.pem"), CERTIFICATE);
    const secure = createSecureServer({ cert: CERTIFICATE, key: KEY }, (_request, response) => void response.end("secret"));
    t.after(() => {
      secure.close();
      rmSync(directory, { recursive: true });
    });
    await once(secure.listen(0, "127.0.0.1"), "listening");
    const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}/`;
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: extra && join(directory, extra) };
    const child = spawn(process.execPath, ["--no-warnings", "--input-type=module", "-e", TRUSTING, url], { env });
    assert.equal(await text(child.stdout), expected);
  });

/** Says in a process of its own by which way a request went that nobody answers. */
const WAY = `
const { httpFetch } = await import(${JSON.stringify(new URL("../../src/http/fetch.ts", import.meta.url).href)});
await httpFetch("http://127.0.0.1:9/").catch(() => undefined);
process.stdout.write(process.moduleLoadList.includes("NativeModule internal/deps/undici/undici") ? "fetch" : "http");`;

const MINE = "globalThis[Symbol.for('undici.globalDispatcher.1')] = new (class Mine { dispatch() { throw new Error('mine'); } })();";

const rows: readonly (readonly [what: string, way: "fetch" | "http", given: { env?: NodeJS.ProcessEnv; before?: string }])[] = [
  ["a plain request loads nothing of Node's fetch", "http", {}],
  ["a proxy of the environment is Node's business", "fetch", { env: { NODE_USE_ENV_PROXY: "1" } }],
  ["a custom dispatcher is used", "fetch", { before: MINE }],
];
for (const [what, way, { env, before = "" }] of rows)
  test(what, () => {
    const args = ["--no-warnings", "--input-type=module", "-e", `${before}${WAY}`];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env: { ...process.env, ...env } });
    assert.equal(stdout || stderr, way);
  });
