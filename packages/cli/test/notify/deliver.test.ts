import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { manualClock } from "@assent/core/testing";
import type { NotifyReceiver } from "@assent/policy";
import { isSigned, webhookReceiver } from "../../../../examples/webhook-receiver.ts";
import { signatureHeaders } from "../../src/io/signed-post.ts";
import { oneLine } from "../../src/io/visible-text.ts";
import { type AttemptResult, deliver } from "../../src/notify/deliver.ts";
import type { NoticeItem } from "../../src/notify/message.ts";
import { createMessage } from "../../src/notify/sender.ts";
import { until } from "../support/assent.ts";
import { ACCEPT, HANG, testReceiver } from "./receiver.ts";

const SECRET = "whisper-8a7b6c5d";
const EVENTS = ["approval"] as const;

function itemOf(over: Partial<NoticeItem> = {}): NoticeItem {
  return {
    ...{ key: "approval:a_1", event: "approval", kind: "approval", id: "a_1", session: "s_1", sessionTitle: "t", agent: "Assent" },
    ...{ tool: "shell", subject: "rm -r build", directory: "/w", why: "no rule allows it", since: "", expiresAt: null },
    ...over,
  };
}

type Sent = {
  readonly env?: Record<string, string>;
  readonly items?: readonly NoticeItem[];
  readonly link?: string;
  readonly signal?: AbortSignal;
};

function send(
  receiver: NotifyReceiver,
  { env = { KEY: SECRET }, items = [itemOf()], link, signal }: Sent = {},
  clock = manualClock(),
): Promise<AttemptResult> {
  const parts = { env: { PATH: process.env["PATH"], ...env }, clock, secretEnv: ["KEY"] };
  return deliver(receiver, createMessage(items, clock, link), parts, signal ?? new AbortController().signal);
}

const webhook = (url: string): NotifyReceiver => ({ type: "webhook", url, secret: "env:KEY", events: EVENTS });

describe("what a receiver answers decides whether a message is delivered", () => {
  const endless = (response: ServerResponse): void => {
    const more = (): void => void (response.destroyed || response.write("x".repeat(65_536), more));
    more();
  };
  const rows: readonly [sentence: string, answer: (response: ServerResponse) => void, expected: Partial<AttemptResult>][] = [
    ["accepted", ACCEPT, { delivered: true, detail: "HTTP 200, ok" }],
    ["accepted without a body", (it) => void it.writeHead(204).end(), { delivered: true, detail: "HTTP 204" }],
    ["accepted with nonsense", (it) => void it.end("\u001b[2J<html>\0"), { delivered: true }],
    ["accepted with a body that never ends", endless, { delivered: true }],
    ["busy", (it) => void it.writeHead(503).end("later"), { delivered: false, again: true, detail: "HTTP 503, later" }],
    ["too many requests", (it) => void it.writeHead(429).end(), { delivered: false, again: true }],
    ["refused", (it) => void it.writeHead(401).end("no"), { delivered: false, again: false, detail: "HTTP 401, no" }],
    ["cut off", (it) => void it.socket?.destroy(), { delivered: false, again: true }],
    ["not HTTP", (it) => void it.socket?.end("250 hello\r\n"), { delivered: false, again: true }],
  ];
  for (const [sentence, answer, expected] of rows) {
    test(sentence, async () => {
      await using receiver = await testReceiver(answer);
      const delivery = await send(webhook(receiver.url));
      assert.deepEqual({ ...delivery, ...expected }, delivery);
      assert.ok(delivery.detail === oneLine(delivery.detail) && delivery.detail.length < 300, delivery.detail);
    });
  }

  for (const status of [301, 302, 303, 307, 308])
    test(`a redirect (${status}) is refused, and the other address gets nothing`, async () => {
      await using other = await testReceiver();
      await using receiver = await testReceiver((it) => void it.writeHead(status, { location: other.url }).end());
      const { delivered, again, detail } = await send(webhook(receiver.url));
      assert.deepEqual([delivered, again, other.received.length], [false, false, 0]);
      assert.match(detail, /it redirects, which is refused/);
    });

  test("a receiver that is down", async () => {
    const receiver = await testReceiver();
    await receiver[Symbol.asyncDispose]();
    const { delivered, again, detail } = await send(webhook(receiver.url));
    assert.deepEqual([delivered, again], [false, true]);
    assert.match(detail, /ECONNREFUSED/);
  });

  test("a receiver that does not answer is given ten seconds", async () => {
    await using receiver = await testReceiver(HANG);
    const clock = manualClock();
    let ended = false;
    const sending = send(webhook(receiver.url), {}, clock).finally(() => {
      ended = true;
    });
    await until("the request arrives", () => receiver.received.length === 1);
    await clock.advance(9_999);
    assert.equal(ended, false);
    await clock.advance(1);
    assert.deepEqual(await sending, { delivered: false, again: true, detail: "it did not answer within 10 seconds" });
  });

  test("an abort ends the wait at once", async () => {
    await using receiver = await testReceiver(HANG);
    const stopping = new AbortController();
    const sending = send(webhook(receiver.url), { signal: stopping.signal });
    await until("the request arrives", () => receiver.received.length === 1);
    stopping.abort();
    assert.deepEqual(await sending, { delivered: false, again: true, detail: "it was stopped" });
    assert.equal((await send(webhook(receiver.url), { signal: stopping.signal })).delivered, false);
  });
});

describe("a webhook is signed", () => {
  test("the example of the docs accepts it with the right secret only, and not later", async () => {
    await using receiver = await testReceiver();
    const clock = manualClock();
    await send(webhook(receiver.url), {}, clock);
    const [{ headers, body } = { headers: {}, body: "" }] = receiver.received;
    assert.equal(isSigned(headers, body, SECRET, clock.now()), true);
    assert.equal(isSigned(headers, body, "another", clock.now()), false);
    assert.equal(isSigned(headers, `${body} `, SECRET, clock.now()), false);
    assert.equal(isSigned({ ...headers, "webhook-timestamp": String(clock.now() / 1_000 + 1) }, body, SECRET, clock.now()), false);
    assert.equal(isSigned(headers, body, SECRET, clock.now() + 301_000), false);
    assert.ok(!JSON.stringify([headers, body]).includes(SECRET));
  });

  test("the server of the docs accepts a message that arrives in pieces", async () => {
    const shown: string[] = [];
    const server = webhookReceiver(SECRET, (line) => shown.push(line)).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const post = async (secret: string, text: string): Promise<number | undefined> => {
      const bytes = Buffer.from(text);
      const signed = signatureHeaders({ id: "m", secret }, Date.now(), text);
      const sent = request({ port, method: "POST", headers: { ...signed, "content-length": bytes.length } });
      const answered = once(sent, "response");
      for (const byte of bytes) {
        sent.write(Buffer.from([byte]));
        await turn();
      }
      sent.end();
      const [answer] = await answered;
      answer.resume();
      return answer.statusCode;
    };
    const text = JSON.stringify({ data: { items: [{ key: "k", event: "approval", subject: "rm – ü" }] } });
    assert.deepEqual([await post(SECRET, text), await post("wrong", text)], [204, 401]);
    assert.deepEqual(shown, ["approval: rm – ü"]);
    server.close();
  });

  test("a secret of Standard Webhooks is base64", async () => {
    await using receiver = await testReceiver();
    const clock = manualClock();
    await send(webhook(receiver.url), { env: { KEY: `whsec_${Buffer.from(SECRET).toString("base64")}` } }, clock);
    const [{ headers, body } = { headers: {}, body: "" }] = receiver.received;
    assert.equal(isSigned(headers, body, SECRET, clock.now()), true);
    assert.equal(isSigned(headers, body, `whsec_${Buffer.from(SECRET).toString("base64")}`, clock.now()), true);
  });

  test("the same items have the same id in every attempt", async () => {
    await using receiver = await testReceiver();
    for (const id of ["a_1", "a_1", "a_2"]) await send(webhook(receiver.url), { items: [itemOf({ key: `approval:${id}` })] });
    const [first, second, third] = receiver.received.map(({ headers }) => headers["webhook-id"]);
    assert.deepEqual([first === second, first === third], [true, false]);
  });
});

describe("without its secret nothing is sent, and the error does not show one", () => {
  const directory = mkdtempSync(join(tmpdir(), "assent-notify-"));
  test.after(() => rmSync(directory, { recursive: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return `file:${join(directory, name)}`;
  };
  const rows: readonly [sentence: string, secret: string, detail: RegExp][] = [
    ["the variable is not set", "env:MISSING", /the environment variable MISSING is not set/],
    ["the file does not exist", `file:${join(directory, "none")}`, /there is no file \/.*\/none/],
    ["the file is a directory", `file:${directory}`, /is not a file with a secret/],
    ["the file is empty", file("empty", " \n"), /is empty/],
    ["the file has several lines", file("lines", `${SECRET}\nx-other: 1`), /must hold one line of plain characters/],
  ];
  for (const [sentence, secret, expected] of rows)
    for (const type of ["webhook", "ntfy"] as const)
      test(`${type}: ${sentence}`, async () => {
        await using receiver = await testReceiver();
        const url = `${receiver.url}/topic`;
        const { delivered, again, detail } = await send(
          type === "webhook" ? { type, url, secret, events: EVENTS } : { type, url, token: secret, events: EVENTS },
        );
        assert.deepEqual([delivered, again, receiver.received.length], [false, false, 0]);
        assert.match(detail, expected);
        assert.ok(!detail.includes(SECRET), detail);
      });

  test("an address from a variable must be an address, and is not shown", async () => {
    for (const value of ["hello", "ftp://127.0.0.1/x", `http:${"//"}user:${SECRET}@127.0.0.1/`, "http://192.0.2.1/plain"]) {
      const { delivered, detail } = await send({ type: "slack", url: "env:URL", events: EVENTS }, { env: { URL: value } });
      assert.equal(delivered, false);
      assert.ok(!detail.includes(value) && !detail.includes(SECRET), detail);
    }
  });

  test("an answer that repeats what the receiver got is shown without its secrets", async () => {
    await using receiver = await testReceiver(
      (it) => void it.writeHead(401).end(`${"-".repeat(180)} ${it.req.headers.authorization} ${it.req.url}`),
    );
    const url = `${receiver.url}/services/B000-a-long-path?key=value-in-a-query`;
    const rows: readonly NotifyReceiver[] = [
      { type: "slack", url: "env:URL", events: EVENTS },
      { type: "slack", url, events: EVENTS },
      { type: "ntfy", url: receiver.url.concat("/topic"), token: "env:KEY", events: EVENTS },
    ];
    for (const row of rows) {
      const { detail } = await send(row, { env: { URL: url, KEY: SECRET } });
      assert.match(detail, /^HTTP 401, -+/);
      for (const part of ["B000", "value-in", SECRET.slice(0, 7)]) assert.ok(!detail.includes(part), detail);
    }
  });

  test("a secret in a file signs without its line end", async () => {
    await using receiver = await testReceiver();
    const clock = manualClock();
    await send({ type: "webhook", url: receiver.url, secret: file("good", `${SECRET}\n`), events: EVENTS }, {}, clock);
    const [{ headers, body } = { headers: {}, body: "" }] = receiver.received;
    assert.equal(isSigned(headers, body, SECRET, clock.now()), true);
  });
});

const HOSTILE: readonly string[] = [
  "<!channel> <!here> <@U123>",
  "@channel @here @all",
  "<https://evil.example|Approve here>",
  "[Approve](https://evil.example) ![x](https://evil.example/x.png)",
  "` *bold* `code` _x_ ~y~ `",
  "a & b &lt;!channel&gt;",
  "x\r\nx-injected: 1\r\n\r\nbody",
  "\u2028\u2029\u0085 \u202egnp.exe \u0000\u001b]8;;https://evil.example\u0007",
];

describe("text of models, tools and files does nothing at the receiver", () => {
  for (const text of HOSTILE) {
    const items = [itemOf({ subject: oneLine(text), agent: oneLine(text) })];
    test(`Slack: ${JSON.stringify(text)}`, async () => {
      await using receiver = await testReceiver();
      await send({ type: "slack", url: receiver.url, events: EVENTS }, { items, link: "http://127.0.0.1:7007" });
      const { text: shown } = JSON.parse(receiver.received[0]?.body ?? "");
      assert.ok(!/[<>]/.test(shown), shown);
      assert.ok(!/@(?!\u200b)/.test(shown), shown);
      const lines = shown.split("\n");
      assert.equal(lines.length, 3);
      assert.match(lines[1], /^• `[^`]*`$/);
      assert.equal(lines[2], "http://127.0.0.1:7007");
    });
    test(`ntfy: ${JSON.stringify(text)}`, async () => {
      await using receiver = await testReceiver();
      await send({ type: "ntfy", url: `${receiver.url}/my%20topic`, events: EVENTS }, { items, link: "http://127.0.0.1:7007" });
      const [{ path, headers, body } = { path: "", headers: {}, body: "{}" }] = receiver.received;
      assert.deepEqual([path, Object.keys(headers).filter((name) => name.startsWith("x-"))], ["/", []]);
      const { topic, title, click, message, ...rest } = JSON.parse(body);
      assert.deepEqual([topic, title, click, rest], ["my topic", "Assent: 1 request waits for you", "http://127.0.0.1:7007", {}]);
      assert.equal(message.split("\n").length, 1);
    });
  }

  test("a long list is cut, and says how many are missing", async () => {
    await using receiver = await testReceiver();
    const items = Array.from({ length: 70 }, (_, at) => itemOf({ key: `approval:${at}`, subject: "x".repeat(300) }));
    await send(webhook(receiver.url), { items });
    await send({ type: "slack", url: receiver.url, events: EVENTS }, { items });
    await send({ type: "ntfy", url: `${receiver.url}/t`, events: EVENTS }, { items });
    const [hook, slack, ntfy] = receiver.received.map(({ body }) => JSON.parse(body));
    assert.deepEqual([hook.data.title, hook.data.items.length, hook.data.more], ["70 requests wait for you", 50, 20]);
    assert.match(slack.text, /\n… and 60 more$/);
    assert.ok(Buffer.byteLength(ntfy.message) < 4_096);
  });
});

describe("a command gets the message on its standard input", () => {
  const command = (script: string): NotifyReceiver => ({ type: "command", command: ["sh", "-c", script], events: EVENTS });
  test("and none of the secrets", async () => {
    const { delivered, detail } = await send(command('grep -o "rm -r build"; echo "key=$KEY cwd=$PWD"'));
    assert.deepEqual([delivered, detail], [true, "exit code 0, rm -r build\\nkey= cwd=/"]);
  });
  const rows: readonly [sentence: string, receiver: NotifyReceiver, detail: RegExp][] = [
    ["a failing command", command("cat > /dev/null; echo no >&2; exit 3"), /^exit code 3, no$/],
    ["a command that does not read", command("exit 4"), /^exit code 4$/],
    ["a missing program", { type: "command", command: ["assent-no-such-program"], events: EVENTS }, /was not found on PATH/],
  ];
  for (const [sentence, receiver, expected] of rows)
    test(sentence, async () => {
      const { delivered, detail } = await send(receiver, {
        items: Array.from({ length: 50 }, () => itemOf({ subject: "y".repeat(3_000) })),
      });
      assert.equal(delivered, false);
      assert.match(detail, expected);
    });
});
