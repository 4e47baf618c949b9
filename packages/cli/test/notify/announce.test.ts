import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { manualClock } from "@assent/core/testing";
import type { NotifyReceivers } from "@assent/policy";
import { createAnnouncer } from "../../src/notify/announcer.ts";
import { ended, type Place, place, put, until, userFile } from "../support/assent.ts";
import { ACCEPT, HANG, type Received, type TestReceiver, testReceiver } from "./receiver.ts";
import { notices, type Scene, scene } from "./scene.ts";

const ENV = { HOOK_KEY: "receiver-secret-1" };

function configure(at: Place, receivers: Record<string, object>, notify: object = {}): void {
  put(userFile(at), JSON.stringify({ notify: { ...notify, receivers } }));
}

function webhook({ url }: TestReceiver, more: object = {}): object {
  return { type: "webhook", url, secret: "env:HOOK_KEY", ...more };
}

const CALLS: readonly object[] = [
  { tool: "shell", id: "c1", input: { command: "rm -r one" } },
  { tool: "shell", id: "c2", input: { command: "rm -r two" } },
  { tool: "write", id: "c3", input: { file_path: "three.txt", content: "x" } },
];

function script(at: Place, turns: readonly object[]): readonly string[] {
  at.write("script.yaml", JSON.stringify({ turns }));
  return ["run", "go on", "--model", "script:script.yaml"];
}

const parking = (at: Place, calls = CALLS): readonly string[] => [...script(at, [{ calls }, { say: "Done." }]), "--on-ask", "park"];

function subjects(received: readonly Received[]): readonly (readonly string[])[] {
  return received.map(({ body }) => JSON.parse(body).data.items.map((item: { subject: string }) => item.subject));
}

describe("a run that parks", () => {
  test("tells each receiver once about all calls of the turn, with a link that has no token", async () => {
    using at = place();
    await using receiver = await testReceiver();
    const slack = { type: "slack", url: `${receiver.url}/slack` };
    configure(
      at,
      { hook: webhook(receiver), slack, tasks: webhook(receiver, { events: ["task"] }) },
      { publicUrl: "http://127.0.0.1:7007" },
    );
    const { code, stderr } = await at.here(parking(at), { env: ENV });
    assert.equal(code, 75, stderr);
    const hooks = receiver.received.filter(({ path }) => path === "/");
    assert.deepEqual([subjects(hooks), receiver.received.length], [[["rm -r one", "rm -r two", "edit three.txt"]], 2]);
    const { data } = JSON.parse(hooks[0]?.body ?? "");
    assert.deepEqual([data.title, data.link, data.more], ["3 requests wait for you", "http://127.0.0.1:7007", 0]);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("has the same end whatever the receivers do", async () => {
    using at = place();
    await using redirecting = await testReceiver((it) => void it.writeHead(302, { location: "http://127.0.0.1:1/" }).end());
    await using refusing = await testReceiver((it) => void it.writeHead(401).end());
    const down = { type: "slack", url: "http://127.0.0.1:1/" };
    const receivers = {
      redirecting: webhook(redirecting),
      refusing: webhook(refusing),
      down,
      unset: webhook(refusing, { url: `${refusing.url}/unset`, secret: "env:UNSET" }),
    };
    configure(at, receivers);
    const { code, stdout, stderr } = await at.here(parking(at), { env: ENV });
    assert.deepEqual([code, stdout], [75, ""]);
    assert.match(stderr, /warning: the receiver redirecting of notifications cannot be used: it redirects/);
    assert.match(stderr, /warning: the receiver unset of notifications cannot be used: the environment variable UNSET is not set/);
    assert.ok(!stderr.includes(ENV.HOOK_KEY));
  });

  test("ends although a receiver never answers", async () => {
    using at = place();
    await using receiver = await testReceiver(HANG);
    configure(at, { hook: webhook(receiver) });
    const { code } = await at.run(parking(at), { env: ENV });
    assert.deepEqual([code, receiver.received.length], [75, 1]);
  });

  test("loads nothing and records nothing without a receiver", async () => {
    using at = place();
    assert.equal((await at.here(parking(at))).code, 75);
    assert.ok(!(await at.here(["log", "--json"])).stdout.includes("notification.sent"));
  });

  test("asks a person a question, and says so", async () => {
    using at = place();
    await using receiver = await testReceiver();
    configure(at, { hook: webhook(receiver) });
    const question = {
      tool: "ask",
      id: "q1",
      input: { questions: [{ id: "db", question: "Which database?", options: [{ label: "A" }, { label: "B" }] }] },
    };
    assert.equal((await at.here(parking(at, [question]), { env: ENV })).code, 75);
    assert.deepEqual(subjects(receiver.received), [["Which database?"]]);
  });
});

describe("secrets are in no notification", () => {
  const secret = "sk-abcdefgh12345678";
  test("of a command, a file, a prompt, a question and a pattern of the project", async () => {
    using at = place();
    await using receiver = await testReceiver();
    put(at.path(".assent/settings.json"), JSON.stringify({ redaction: { patterns: [{ name: "internal", prefix: "corp-" }] } }));
    const url = receiver.url;
    configure(at, { hook: webhook(receiver), slack: { type: "slack", url: `${url}/s` }, ntfy: { type: "ntfy", url: `${url}/t` } });
    const long = `echo ${"x".repeat(170)} ${secret}`;
    const calls = [
      { tool: "shell", id: "c1", input: { command: `deploy --token ${secret} password=hunter2hunter2 corp-12345` } },
      { tool: "shell", id: "c2", input: { command: long } },
      { tool: "write", id: "c3", input: { file_path: `${secret}.txt`, content: secret } },
      {
        tool: "ask",
        id: "c4",
        input: { questions: [{ id: "k", question: `Is ${secret} right?`, options: [{ label: secret }, { label: "no" }] }] },
      },
    ];
    const [, , ...rest] = parking(at, calls);
    assert.equal((await at.here(["run", `use ${secret}`, ...rest], { env: ENV })).code, 75);
    const all = JSON.stringify(receiver.received);
    assert.equal(receiver.received.length, 3);
    for (const hidden of ["sk-abc", "hunter2", "corp-12345", ENV.HOOK_KEY]) assert.ok(!all.includes(hidden), `${hidden} in ${all}`);
    assert.ok(all.includes("[redacted: key]") && all.includes("[redacted: internal]"));
  });

  test("of an error that ends a run, which is a failed session", async () => {
    using at = place();
    await using receiver = await testReceiver();
    configure(at, { hook: webhook(receiver), approvals: webhook(receiver, { events: ["approval"] }) });
    const { code } = await at.here(script(at, [{ error: { status: 400, message: `the key ${secret} is wrong` } }]), { env: ENV });
    assert.notEqual(code, 0);
    const [{ body } = { body: "{}" }, ...more] = receiver.received;
    assert.equal(more.length, 0);
    const { title, items } = JSON.parse(body).data;
    assert.deepEqual([title, items[0].event, items[0].kind], ["1 session failed", "failed", "session"]);
    assert.match(items[0].why, /the key \[redacted: key\] is wrong/);
    assert.ok(!body.includes(secret));
  });
});

describe("only the user and the team add receivers", () => {
  for (const trusted of [false, true])
    test(trusted ? "a trusted project does not" : "an untrusted project does not", async () => {
      using at = place();
      await using receiver = await testReceiver();
      const command = ["sh", "-c", `touch ${join(at.root, "ran")}`];
      const evil = { hook: webhook(receiver), run: { type: "command", command } };
      put(at.path(".assent/settings.json"), JSON.stringify({ notify: { receivers: evil } }));
      if (trusted) assert.equal((await at.here(["trust", "--yes"])).code, 0);
      const { code, stderr } = await at.here(parking(at), { env: ENV });
      assert.equal(code, 75, stderr);
      assert.deepEqual([receiver.received.length, existsSync(join(at.root, "ran"))], [0, false]);
      assert.equal((await at.here(["notify", "test"], { env: ENV })).code, 1);
      assert.equal(receiver.received.length, 0);
    });
});

describe("hooks of a guarded agent", () => {
  const input = (at: Place, command: string, id: string): string =>
    JSON.stringify({
      ...{ session_id: "other-1", transcript_path: "/x", cwd: at.workspace, permission_mode: "default", hook_event_name: "PreToolUse" },
      ...{ tool_name: "Bash", tool_input: { command }, tool_use_id: id },
    });

  test("tell the receiver while they wait", async () => {
    using at = place();
    await using receiver = await testReceiver();
    configure(at, { hook: webhook(receiver) });
    const waiting = at.start(["hook", "claude", "--deadline", "30s"], { env: ENV });
    waiting.stdin?.end(input(at, "rm -r one --token=abcdef123", "t1"));
    await until("the receiver is told", () => receiver.received.length === 1);
    const { title, items } = JSON.parse(receiver.received[0]?.body ?? "").data;
    assert.deepEqual(
      [title, items[0].agent, items[0].subject],
      ["1 request waits for you", "Claude Code", "rm -r one --token=[redacted: secret]"],
    );
    assert.ok(!receiver.received[0]?.body.includes("abcdef123"));
    assert.equal((await at.here(["approve", items[0].id])).code, 0);
    assert.equal((await ended(waiting)).code, 0);
  });

  test("end without waiting for a receiver that hangs, and say nothing about calls that need no person", async () => {
    using at = place();
    await using receiver = await testReceiver(HANG);
    configure(at, { hook: webhook(receiver) });
    const allowed = await at.here(["hook", "claude"], { input: input(at, "ls", "t1"), env: ENV });
    const denied = await at.here(["hook", "claude", "--on-ask", "deny"], { input: input(at, "rm -r one", "t2"), env: ENV });
    assert.deepEqual([allowed.code, denied.code, receiver.received.length], [0, 2, 0]);
    const waiting = at.start(["hook", "claude", "--deadline", "10m"], { env: ENV });
    const over = ended(waiting);
    waiting.stdin?.end(input(at, "rm -r one", "t3"));
    await until("the receiver is told", () => receiver.received.length === 1);
    waiting.kill("SIGTERM"); // ends the wait as the deadline does
    const { code, stderr } = await over;
    assert.equal(code, 2);
    assert.match(stderr, /it waits for approval/);
  });
});

describe("what a process sends while it works", () => {
  function announcerFor(
    { ledger }: Scene,
    receivers: NotifyReceivers,
    clock: ReturnType<typeof manualClock>,
  ): ReturnType<typeof createAnnouncer> {
    const io = { env: {}, stderr: { write: async () => undefined } };
    return createAnnouncer({ io, overrides: { clock } } as never, { ledger, directory: "/" }, receivers);
  }

  const slack = ({ url }: TestReceiver): NotifyReceivers => ({ one: { type: "slack", url, events: ["approval"] } });

  test("is one message for what opens at nearly the same time, and another one for later", async () => {
    await using receiver = await testReceiver();
    const clock = manualClock();
    const at = await scene();
    for (const call of ["1", "2", "3"]) await at.open(call);
    const announcer = announcerFor(at, slack(receiver), clock);
    announcer.add(notices("1"));
    await clock.advance(200);
    announcer.add(notices("2", "1"));
    assert.equal(receiver.received.length, 0);
    await clock.advance(100);
    await until("one message", () => receiver.received.length === 1);
    announcer.add(notices("3", "1"));
    await clock.advance(300);
    await until("another message", () => receiver.received.length === 2);
    await announcer.settle(2_000);
    const counts = receiver.received.map(({ body }) => JSON.parse(body).text.split("\n")[0]);
    assert.deepEqual(counts, ["2 requests wait for you", "1 request waits for you"]);
  });

  test("the end waits for a receiver that hangs for two seconds, not longer", async () => {
    await using receiver = await testReceiver(HANG);
    const clock = manualClock();
    const at = await scene();
    await at.open("1");
    const announcer = announcerFor(at, slack(receiver), clock);
    announcer.add(notices("1"));
    let isOver = false;
    const settling = announcer.settle(2_000).then(() => {
      isOver = true;
    });
    await until("the request arrives", () => receiver.received.length === 1);
    await clock.advance(1_999);
    assert.equal(isOver, false);
    await clock.advance(1);
    await settling;
    assert.equal(clock.pending(), 0, "nothing is left that would try again");
  });

  test("is tried again, ever more rarely, and not once it is answered", async () => {
    await using receiver = await testReceiver((it) => void it.writeHead(500).end());
    const clock = manualClock();
    const at = await scene();
    await at.open("1");
    const announcer = announcerFor(at, slack(receiver), clock);
    announcer.add(notices("1"));
    const waits = [300, 1_000, 5_000, 30_000, 120_000, 900_000];
    for (const [tries, ms] of waits.entries()) {
      await until(`attempt ${tries} is over`, () => receiver.received.length === tries && clock.pending() <= 1);
      if (tries === 5) break;
      await until("the next one is planned", () => clock.pending() === 1);
      await clock.advance(ms);
    }
    await clock.advance(900_000);
    assert.equal(receiver.received.length, 5);
    receiver.answer = ACCEPT;
    await announcer.settle(2_000);
    assert.equal(receiver.received.length, 5);
  });
});

test("the settings of the docs are valid", async () => {
  using at = place();
  put(userFile(at), readFileSync(new URL("../../../../examples/notify/settings.json", import.meta.url), "utf8"));
  const { code, stdout, stderr } = await at.here(["policy", "check"]);
  assert.equal(code, 0, `${stdout}${stderr}`);
});

test("assent notify test says what each receiver answered, and shows no secret", async () => {
  using at = place();
  await using receiver = await testReceiver();
  await using refusing = await testReceiver((it) => void it.writeHead(403).end("token=receiver-says-123"));
  configure(at, { good: webhook(receiver), bad: webhook(refusing), command: { type: "command", command: ["sh", "-c", "cat >/dev/null"] } });
  const { code, stdout, stderr } = await at.here(["notify", "test"], { env: ENV });
  assert.equal(code, 1, stderr);
  assert.deepEqual(stdout.split("\n"), [
    "good (webhook): accepted: HTTP 200, ok",
    "bad (webhook): failed: HTTP 403, token=[redacted: secret]",
    "command (command): accepted: exit code 0",
    "",
  ]);
  const one = await at.hereJson(["notify", "test", "good"], { env: ENV });
  assert.deepEqual([one.code, one.value], [0, { receivers: [{ name: "good", type: "webhook", delivered: true, answer: "HTTP 200, ok" }] }]);
  const none = await at.hereJson(["notify", "test", "nope"], { env: ENV });
  assert.deepEqual([none.code, none.value.error.type, none.value.error.hint], [4, "receiver_not_found", "Configured: good, bad, command"]);
  writeFileSync(
    userFile(at),
    '{"notify":{"receivers":{"x":{"type":"slack","url":"https://hooks.example/T00/SECRET","secret":"plain-secret-1"}}}}',
  );
  const wrong = await at.here(["notify", "test"], { env: ENV });
  assert.notEqual(wrong.code, 0);
  assert.ok(!`${wrong.stdout}${wrong.stderr}`.includes("plain-secret-1"));
});
