import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import type { CancelTarget, InboxAnswer, InboxDesk } from "../src/desk.ts";
import { type InboxServer, serveInbox } from "../src/server.ts";
import { expectAttackCounts } from "./attack-table.ts";

type Reply = { readonly status: number; readonly headers: Readonly<Record<string, unknown>>; readonly body: string };
type Sent = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

const saved: InboxAnswer[] = [];
const cancelled: CancelTarget[] = [];
let isRecordGone = false;
let changeRecord = (_position: number): void => undefined;
const ANSWER = { id: "a_1", revision: 1, fingerprint: "f", outcome: "approve" } as const;

const desk: InboxDesk = {
  waiting: async () => [],
  card: async () => undefined,
  reveal: async () => ({ command: "secret" }),
  answer: async (answer) => {
    saved.push(answer);
    return answer.fingerprint === "f"
      ? { id: answer.id, result: "saved", message: "" }
      : { id: answer.id, result: "changed", message: "changed" };
  },
  sessions: async () => [],
  timeline: async () => undefined,
  export: async () => undefined,
  undo: async (id) => ({ id, result: "saved", message: "" }),
  cancel: async (id, target) => {
    cancelled.push(target);
    return { id, result: "saved", message: "" };
  },
  grants: async () => [],
  revoke: async (id) => ({ id, result: "saved", message: "" }),
  follow: (changed, failed) => {
    changed(7);
    changeRecord = changed;
    if (isRecordGone) failed(new Error("the record is gone"));
    return { close: () => undefined };
  },
};

describe("who may use the page", () => {
  let server: InboxServer;
  let cookie = "";
  let key = "";
  const host = (): string => `127.0.0.1:${server.port}`;
  const origin = (): string => `http://${host()}`;
  const token = (): string => server.link().split("#t=")[1] ?? "";
  const send = ({ method = "GET", path, headers = {}, body = "" }: Sent): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const asked = request(
        { host: "127.0.0.1", port: server.port, method, path, headers: { host: host(), "x-assent-key": key, ...headers } },
        (reply) => {
          const chunks: Buffer[] = [];
          reply.on("data", (chunk: Buffer) => {
            chunks.push(chunk);
            if (reply.headers["content-type"] === "text/event-stream" && chunks.length > 1) reply.destroy();
          });
          reply.on("close", () =>
            resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: Buffer.concat(chunks).toString() }),
          );
        },
      );
      asked.on("error", reject);
      asked.end(body);
    });
  const sendRaw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      let reply = "";
      const socket = connect(server.port, "127.0.0.1", () => socket.write(text));
      socket.on("data", (chunk: Buffer) => {
        reply += String(chunk);
      });
      socket.on("error", reject);
      socket.on("close", () => resolve(reply));
    });
  const json = (): Readonly<Record<string, string>> => ({ "content-type": "application/json", origin: origin() });
  const answerBody = JSON.stringify({ answers: [ANSWER] });

  before(async () => {
    server = await serveInbox({ desk, page: { script: "", style: "" }, port: 0 });
    const { headers, body } = await send({ method: "POST", path: "/login", headers: json(), body: JSON.stringify({ token: token() }) });
    cookie = String(headers["set-cookie"]).split(";")[0] ?? "";
    ({ key } = JSON.parse(body));
  });
  after(() => server.close());

  type Attack = readonly [kind: string, name: string, status: number, sent: () => Sent];
  const attacks: readonly Attack[] = [
    [
      "foreign Host",
      "a foreign Host is refused, also with the cookie",
      421,
      () => ({ path: "/api/waiting", headers: { host: "evil.test", cookie } }),
    ],
    [
      "foreign Host",
      "the right name with another port is a foreign Host",
      421,
      () => ({ path: "/", headers: { host: "127.0.0.1:1", cookie } }),
    ],
    ...["localhost.", "LOCALHOST", "[::1]", "0.0.0.0", "127.1", "evil@127.0.0.1", "127.0.0.1.nip.io"].map(
      (name): Attack => [
        "foreign Host",
        `another name of this machine, '${name}', is a foreign Host`,
        421,
        () => ({ path: "/api/waiting", headers: { host: `${name}:${server.port}`, cookie } }),
      ],
    ),
    ["no cookie", "a request without a cookie sees nothing", 401, () => ({ path: "/api/waiting" })],
    [
      "no cookie",
      "a second local user with a guessed cookie sees nothing",
      401,
      () => ({ path: "/api/waiting", headers: { cookie: `${cookie}x` } }),
    ],
    [
      "no cookie",
      "the cookie's value under another name is refused",
      401,
      () => ({ path: "/api/waiting", headers: { cookie: `a=${cookie.split("=")[1]}` } }),
    ],
    ...[
      ["a stolen cookie shows nothing without the page's key", ""],
      ["a stolen cookie shows nothing with the key of another login", "A".repeat(43)],
    ].map(
      ([name = "", other = ""]): Attack => [
        "stolen cookie",
        name,
        401,
        () => ({ path: "/api/waiting", headers: { cookie, "x-assent-key": other } }),
      ],
    ),
    [
      "stolen cookie",
      "a stolen cookie does not answer",
      401,
      () => ({ method: "POST", path: "/api/answers", headers: { ...json(), cookie, "x-assent-key": "" }, body: answerBody }),
    ],
    ["no cookie", "a stream needs the cookie", 401, () => ({ path: "/api/stream" })],
    [
      "foreign or missing Origin",
      "a read from another site is refused",
      403,
      () => ({ path: "/api/waiting", headers: { cookie, origin: "http://evil.test" } }),
    ],
    [
      "foreign or missing Origin",
      "a read that a browser calls cross-site is refused",
      403,
      () => ({ path: "/api/waiting", headers: { cookie, "sec-fetch-site": "cross-site" } }),
    ],
    [
      "foreign or missing Origin",
      "another port of this machine is another site",
      403,
      () => ({ path: "/api/waiting", headers: { cookie, "sec-fetch-site": "same-site" } }),
    ],
    [
      "foreign or missing Origin",
      "an answer from another site is refused",
      403,
      () => ({ method: "POST", path: "/api/answers", headers: { ...json(), cookie, origin: "http://evil.test" }, body: answerBody }),
    ],
    [
      "foreign or missing Origin",
      "an answer with the origin null is refused",
      403,
      () => ({ method: "POST", path: "/api/answers", headers: { ...json(), cookie, origin: "null" }, body: answerBody }),
    ],
    [
      "foreign or missing Origin",
      "an answer without an origin is refused",
      403,
      () => ({ method: "POST", path: "/api/answers", headers: { "content-type": "application/json", cookie }, body: answerBody }),
    ],
    [
      "form post",
      "a form cannot answer",
      415,
      () => ({
        method: "POST",
        path: "/api/answers",
        headers: { cookie, origin: origin(), "content-type": "application/x-www-form-urlencoded" },
        body: "answers=1",
      }),
    ],
    [
      "form post",
      "a form that imitates JSON cannot answer",
      415,
      () => ({
        method: "POST",
        path: "/api/answers",
        headers: { cookie, origin: origin(), "content-type": "text/plain" },
        body: answerBody,
      }),
    ],
    ["GET, PUT or OPTIONS", "a GET answers nothing", 405, () => ({ path: "/api/answers", headers: { cookie } })],
    ["GET, PUT or OPTIONS", "a GET reveals nothing", 405, () => ({ path: "/api/reveal/a_1", headers: { cookie } })],
    ["GET, PUT or OPTIONS", "a GET revokes nothing", 405, () => ({ path: "/api/revoke/g_1", headers: { cookie } })],
    ["GET, PUT or OPTIONS", "a GET cancels nothing", 405, () => ({ path: "/api/cancel/s_1", headers: { cookie } })],
    [
      "malformed request",
      "a request to cancel something else than a call or a task is refused",
      400,
      () => ({ method: "POST", path: "/api/cancel/s_1", headers: { ...json(), cookie }, body: JSON.stringify({ call: "c1", task: "t1" }) }),
    ],
    [
      "no cookie",
      "an answer without the cookie is refused",
      401,
      () => ({ method: "POST", path: "/api/answers", headers: json(), body: answerBody }),
    ],
    [
      "wrong or used token",
      "a wrong token is refused",
      401,
      () => ({ method: "POST", path: "/login", headers: json(), body: JSON.stringify({ token: "wrong" }) }),
    ],
    [
      "foreign or missing Origin",
      "a login from another site is refused",
      403,
      () => ({ method: "POST", path: "/login", headers: { ...json(), origin: "http://evil.test" }, body: "{}" }),
    ],
    [
      "GET, PUT or OPTIONS",
      "PUT is refused",
      405,
      () => ({ method: "PUT", path: "/api/answers", headers: { ...json(), cookie }, body: answerBody }),
    ],
    [
      "GET, PUT or OPTIONS",
      "OPTIONS is refused, so no other site may send JSON",
      403,
      () => ({ method: "OPTIONS", path: "/api/answers", headers: { origin: "http://evil.test" } }),
    ],
    [
      "GET, PUT or OPTIONS",
      "a GET that asks to be taken as a POST is still a GET",
      405,
      () => ({ path: "/api/answers?_method=POST", headers: { ...json(), cookie, "x-http-method-override": "POST" } }),
    ],
    [
      "malformed request",
      "a long body is not read before the login",
      400,
      () => ({ method: "POST", path: "/login", headers: json(), body: JSON.stringify({ token: "x".repeat(2_000) }) }),
    ],
    [
      "malformed request",
      "a number of events that is none is refused",
      400,
      () => ({ path: "/api/sessions/s_1?last=all", headers: { cookie } }),
    ],
    ["malformed request", "an id cannot name a path", 404, () => ({ path: "/api/cards/..%2f..%2fetc", headers: { cookie } })],
    [
      "malformed request",
      "a body that is no JSON object is refused",
      400,
      () => ({ method: "POST", path: "/api/answers", headers: { ...json(), cookie }, body: "[]" }),
    ],
    [
      "malformed request",
      "an answer whose input nests 20,000 levels is refused",
      400,
      () => ({
        method: "POST",
        path: "/api/answers",
        headers: { ...json(), cookie },
        body: `{"answers":[{"id":"a_1","revision":1,"fingerprint":"f","outcome":"approve","input":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}]}`,
      }),
    ],
    [
      "malformed request",
      "an answer with an unknown field is refused",
      400,
      () => ({
        method: "POST",
        path: "/api/answers",
        headers: { ...json(), cookie },
        body: JSON.stringify({ answers: [{ ...ANSWER, by: "me" }] }),
      }),
    ],
    [
      "malformed request",
      "an answer that does not name what was shown is refused",
      400,
      () => ({
        method: "POST",
        path: "/api/answers",
        headers: { ...json(), cookie },
        body: JSON.stringify({ answers: [{ id: "a_1", outcome: "approve" }] }),
      }),
    ],
  ];
  const kinds: string[] = [];
  const attack = (kind: string, name: string, act: () => Promise<void>): void => {
    kinds.push(kind);
    test(name, { timeout: 20_000 }, act);
  };
  for (const [kind, name, status, sent] of attacks)
    attack(kind, name, async () => {
      saved.length = 0;
      const reply = await send(sent());
      assert.equal(reply.status, status, reply.body);
      assert.deepEqual([saved, cancelled], [[], []], "nothing was answered or cancelled");
    });

  const ambiguous: readonly (readonly [name: string, headers: string])[] = [
    ["two lengths", "Content-Length: 2\r\nContent-Length: 3"],
    ["a length and chunks", "Content-Length: 2\r\nTransfer-Encoding: chunked"],
    ["chunks of an unknown form", "Transfer-Encoding: xchunked"],
    ["a folded header", "X-A: b\r\n c"],
  ];
  for (const [name, headers] of ambiguous)
    attack("smuggled request", `a request with ${name} ends its connection, and what follows is not read`, async () => {
      saved.length = 0;
      const own = `Host: ${host()}\r\nCookie: ${cookie}\r\nX-Assent-Key: ${key}\r\nOrigin: ${origin()}\r\nContent-Type: application/json`;
      const inner = `POST /api/answers HTTP/1.1\r\n${own}\r\nContent-Length: ${answerBody.length}\r\n\r\n${answerBody}`;
      const reply = await sendRaw(`POST /api/cancel/s_1 HTTP/1.1\r\n${own}\r\n${headers}\r\n\r\n0\r\n\r\n${inner}`);
      assert.match(reply, /^HTTP\/1\.1 400 /);
      assert.equal(reply.split("HTTP/1.1").length, 2, "one reply");
      assert.deepEqual(saved, []);
    });
  attack("foreign Host", "two Host headers are refused, although the first is right", async () => {
    const reply = await sendRaw(
      `GET /api/waiting HTTP/1.1\r\nHost: ${host()}\r\nHost: evil.test\r\nCookie: ${cookie}\r\nX-Assent-Key: ${key}\r\nConnection: close\r\n\r\n`,
    );
    assert.match(reply, /^HTTP\/1\.1 421 /);
  });
  attack("many connections", "connections that send nothing are closed when there are too many", async () => {
    const full = Promise.withResolvers<void>();
    let closed = 0;
    const sockets = Array.from({ length: 250 }, () =>
      connect(server.port, "127.0.0.1")
        .on("error", () => undefined)
        .on("close", () => {
          closed += 1;
          if (closed === 50) full.resolve();
        }),
    );
    await full.promise;
    for (const socket of sockets) socket.destroy();
  });

  test("an answer with cookie, origin, revision and fingerprint is saved", async () => {
    const { status } = await send({ method: "POST", path: "/api/answers", headers: { ...json(), cookie }, body: answerBody });
    assert.equal(status, 200);
    assert.deepEqual(saved, [ANSWER]);
  });
  test("a call, a task, or all that a session does can be cancelled", async () => {
    const targets: readonly CancelTarget[] = [{ call: "c 1" }, { task: "t_1" }, null];
    for (const target of targets)
      await send({ method: "POST", path: "/api/cancel/s_1", headers: { ...json(), cookie }, body: JSON.stringify(target ?? {}) });
    assert.deepEqual(cancelled, targets);
  });
  attack("outdated answer", "an answer to something that changed is a 409 and says so", async () => {
    const body = JSON.stringify({ answers: [{ ...ANSWER, fingerprint: "old" }] });
    const { status, body: said } = await send({ method: "POST", path: "/api/answers", headers: { ...json(), cookie }, body });
    assert.equal(status, 409);
    assert.match(said, /"result":"changed"/);
  });
  attack("wrong or used token", "a token works once, and the next link has another one", async () => {
    const first = token();
    const login = (): Promise<Reply> => send({ method: "POST", path: "/login", headers: json(), body: JSON.stringify({ token: first }) });
    assert.equal((await login()).status, 200);
    assert.equal((await login()).status, 401);
    assert.notEqual(token(), first);
  });
  test("the cookie cannot be read by a script or sent from another site", async () => {
    const { headers } = await send({ method: "POST", path: "/login", headers: json(), body: JSON.stringify({ token: token() }) });
    assert.match(String(headers["set-cookie"]), /^assent_[0-9a-f]{8}=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/);
  });
  attack("clickjacking", "every reply forbids frames, foreign scripts, caches and referrers", async () => {
    for (const path of ["/", "/app.js", "/api/waiting", "/nothing"]) {
      const { headers } = await send({ path });
      assert.match(
        String(headers["content-security-policy"]),
        /default-src 'none'.*frame-ancestors 'none'.*require-trusted-types-for 'script'/,
      );
      assert.equal(headers["x-frame-options"], "DENY");
      assert.equal(headers["referrer-policy"], "no-referrer");
      assert.equal(headers["cache-control"], "no-store");
      assert.equal(headers["access-control-allow-origin"], undefined);
    }
  });
  attack("token in a Referer, log or page", "the public shell contains no data and no token", async () => {
    const { body } = await send({ path: "/" });
    assert.ok(!body.includes(token()));
  });
  test("a stream says at once where the record is, unless the browser knows", async () => {
    assert.match((await send({ path: "/api/stream", headers: { cookie } })).body, /id: 7\nevent: changed/);
  });
  test("a stream says nothing to a browser that knows where the record is, and ends if the record is gone", async () => {
    isRecordGone = true;
    try {
      const at = async (seen: string): Promise<string> =>
        (await send({ path: "/api/stream", headers: { cookie, "last-event-id": seen } })).body;
      assert.doesNotMatch(await at("7"), /changed/);
      assert.match(await at("6"), /id: 7\nevent: changed/);
      assert.match(await at("nonsense"), /id: 7\nevent: changed/);
    } finally {
      isRecordGone = false;
    }
  });
  test("a browser that reads nothing for long gets the newest position only", async () => {
    const CHANGES = 300_000;
    let text = "";
    const socket = connect(server.port, "127.0.0.1");
    socket.write(`GET /api/stream HTTP/1.1\r\nHost: ${host()}\r\nCookie: ${cookie}\r\n\r\n`);
    await once(socket, "readable"); // and it reads nothing more
    for (let position = 8; position < 8 + CHANGES; position += 1) {
      changeRecord(position);
      if (position % 100 === 0) await new Promise(setImmediate);
    }
    for await (const chunk of socket) {
      text += chunk;
      if (text.includes(`id: ${7 + CHANGES}\n`)) break;
    }
    const told = text.split("event: changed").length - 1;
    assert.ok(told < CHANGES, `${told} events`);
  });
  test("SECURITY.md has the number of these attacks", () => expectAttackCounts("requests", kinds));
});
