import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { constants, existsSync, readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { manualClock } from "@assent/core/testing";
import { withoutProgram } from "../../../../test/support/programs.ts";
import { startAudit } from "../../src/audit/background.ts";
import { createAttendance } from "../../src/notify/attendance.ts";
import { withStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { HANG, testReceiver } from "../notify/receiver.ts";
import { scene } from "../notify/scene.ts";
import { BIN, ended, type Place, place, put, until, userFile } from "../support/assent.ts";

type Context = Parameters<typeof withStore>[0];

/** What a command of this place needs to open its store, at the time of a manual clock. */
function contextOf(at: Place, clock: ReturnType<typeof manualClock>): Context {
  const io = { env: at.env, cwd: at.workspace, stderr: { write: async () => undefined } };
  const options = { text: () => undefined, flag: () => false };
  return { io, options, overrides: { clock }, streams: "quietly", attendance: createAttendance() } as never;
}

const openOne = async ({ ledger }: Store): Promise<void> => (await scene({}, { ledger, id: "s_aaaaaaaaaaaaaaaaaaaa" })).open("1");

describe("the end of a program waits two seconds in all", () => {
  test("for receivers of notifications and destinations of the audit stream that hang", async () => {
    using at = place();
    await using chat = await testReceiver(HANG);
    await using other = await testReceiver(HANG);
    await using collector = await testReceiver(HANG);
    const receivers = { chat: { type: "slack", url: chat.url }, other: { type: "ntfy", url: `${other.url}/topic` } };
    put(userFile(at), JSON.stringify({ notify: { receivers }, audit: [{ otlp: collector.url }] }));
    const clock = manualClock();
    let isOver = false;
    const leaving = withStore(contextOf(at, clock), openOne).finally(() => {
      isOver = true;
    });
    await until("both receivers are asked", () => chat.received.length === 1 && other.received.length === 1);
    await clock.advance(1_000);
    await until("the collector is asked", () => collector.received.length === 1);
    await clock.advance(999);
    assert.equal(isOver, false);
    await clock.advance(1);
    await until("it is over, or waits for more", () => isOver || clock.pending() > 0);
    assert.equal(isOver, true);
    await leaving;
  });

  test("for a new destination, too, which gets the rest of a long record later", async () => {
    using at = place();
    const file = join(at.root, "audit.jsonl");
    const clock = manualClock();
    await withStore(contextOf(at, clock), async (store) => {
      const { append } = await scene({}, { ledger: store.ledger, id: "s_aaaaaaaaaaaaaaaaaaaa" });
      const message = {
        type: "message.user",
        v: 1,
        at: new Date(0).toISOString(),
        body: { turn: 1, content: "hello", origin: "user" },
      } as const;
      for (let count = 0; count < 10; count += 1) await append(...Array.from({ length: 500 }, () => message));
      put(userFile(at), JSON.stringify({ audit: [{ file }] }));
      const stream = startAudit(contextOf(at, clock), store);
      await clock.advance(1_000);
      while (!existsSync(file)) await turn();
      const closing = stream.close();
      await clock.advance(2_000);
      await closing;
    });
    const sent = readFileSync(file, "utf8").split("\n").length;
    assert.ok(sent < 5_000, `${sent} lines`);
    assert.equal((await at.here(["audit", "send"])).code, 0);
    assert.equal((await at.here(["verify", "--anchors", file])).code, 0);
  });
});

/** Servers that stop at one stage of a request, each on a port of its own. */
const STAGES: Readonly<Record<string, (socket: Socket) => void>> = {
  "after the connection": () => undefined,
  "in the headers": (socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Le"),
  "in the body": (socket) => void socket.write("HTTP/1.1 500 No\r\nContent-Length: 1000\r\n\r\nabc"),
};

async function hangingServer(stop: (socket: Socket) => void): Promise<{ readonly port: number; asked: boolean }> {
  const server = createServer((socket) => {
    found.asked = true;
    socket
      .unref()
      .on("error", () => undefined)
      .once("data", () => stop(socket));
  }).listen(0, "127.0.0.1");
  await once(server.unref(), "listening");
  const address = server.address();
  const found = { port: typeof address === "object" && address ? address.port : 0, asked: false };
  return found;
}

test("a run ends although receivers hang at every stage, and its name server never answers", {
  skip: withoutProgram("unshare"),
}, async () => {
  using at = place();
  const stages = await Promise.all(Object.values(STAGES).map(hangingServer));
  const names = createSocket("udp4").unref().bind(53, "127.0.0.153");
  let questions = 0;
  names.on("message", () => {
    questions += 1;
  });
  await once(names, "listening");
  const servers = stages.map(({ port }) => `http://127.0.0.1:${port}/`);
  const urls = [...servers, servers[0]?.replace("http:", "https:"), "https://chat.example/"];
  const command = ["sh", "-c", `trap "" TERM; touch ${join(at.root, "started")}; sleep 1000`];
  const receivers = Object.fromEntries(urls.map((url, index) => [`r${index}`, { type: "slack", url }]));
  put(
    userFile(at),
    JSON.stringify({
      notify: { receivers: { ...receivers, command: { type: "command", command } } },
      audit: servers.map((otlp) => ({ otlp })),
    }),
  );
  const calls = [{ tool: "shell", id: "c1", input: { command: "rm -r one" } }];
  at.write("script.yaml", JSON.stringify({ turns: [{ calls }] }));
  const resolver = put(join(at.root, "resolv.conf"), "nameserver 127.0.0.153\noptions timeout:20 attempts:2\n");
  const argv = ["run", "go on", "--model", "script:script.yaml", "--on-ask", "park"];
  const script = `mount --bind ${resolver} /etc/resolv.conf; "$@"; code=$?; grep flags: /proc/self/fdinfo/1; exit $code`;
  const program = ["sh", "-c", script, "sh", process.execPath, BIN, ...argv];
  const { code, stdout, stderr } = await ended(
    spawn("unshare", ["--mount", ...program], { cwd: at.workspace, env: at.env, stdio: ["ignore", "pipe", "pipe"] }),
  );
  assert.equal(code, 75, stderr);
  const [, flags = ""] = /^flags:\s*(\d+)$/m.exec(stdout) ?? [];
  assert.equal(Number.parseInt(flags, 8) & constants.O_NONBLOCK, 0, "programs that write to the same pipe next would lose output");
  assert.deepEqual([stages.map(({ asked }) => asked), existsSync(join(at.root, "started"))], [[true, true, true], true]);
  assert.ok(questions > 0 && questions <= 2, `the name server was asked ${questions} times: once for each kind of address, and not again`);
});
