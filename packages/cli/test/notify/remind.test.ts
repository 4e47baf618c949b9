import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Ledger } from "@assent/core";
import { answeredDraft, DRAFTED_AT, draftOf, endedTaskDraft, type ManualClock, manualClock, startedTaskDraft } from "@assent/core/testing";
import { openLedger } from "@assent/store";
import { remindReceivers } from "../../src/notify/reminder.ts";
import { type Place, place, put, until, userFile } from "../support/assent.ts";
import { ACCEPT, HANG, type TestReceiver, testReceiver } from "./receiver.ts";
import { SESSION, scene } from "./scene.ts";

const MINUTE = 60_000;
const START = Date.parse(DRAFTED_AT);

type Reminding = {
  readonly clock: ManualClock;
  /** Resolves when it waits for its next look. */
  readonly idle: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly warnings: readonly string[];
};

/** The part of `assent inbox` that sends, on a clock of its own. */
function remind(at: Place, ledger: Ledger, clock = manualClock(START)): Reminding {
  const stopping = new AbortController();
  const warnings: string[] = [];
  const stderr = { write: async (text: string) => void warnings.push(text) };
  const attempts = new Set<() => void>();
  const timer: ManualClock["timer"] = (ms, fire, { keepsAlive = false } = {}) => {
    const cancel = clock.timer(ms, fire);
    if (!keepsAlive) attempts.add(cancel); // only attempts to send do not keep the process alive
    return () => {
      attempts.delete(cancel);
      cancel();
    };
  };
  const context = { io: { env: at.env, cwd: at.workspace, stderr }, overrides: { clock: { ...clock, timer } } };
  const done = remindReceivers(context as never, { ledger, directory: at.store }, stopping.signal);
  return {
    clock,
    warnings,
    idle: async () => {
      for (let turns = 0; clock.pending() === 0 || attempts.size > 0; turns += 1) {
        assert.ok(turns < 100_000, "it never waits for its next look");
        await turn();
      }
    },
    stop: async () => {
      stopping.abort();
      await done;
    },
  };
}

function configure(at: Place, { url }: TestReceiver, more: object = {}): void {
  put(userFile(at), JSON.stringify({ notify: { receivers: { one: { type: "slack", url, ...more } } } }));
}

function titles({ received }: TestReceiver): readonly string[] {
  return received.map(({ body }) => JSON.parse(body).text.split("\n")[0]);
}

/** Lets time pass in steps, and every look end before the next. */
async function pass({ clock, idle }: Reminding, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5_000) {
    await idle();
    await clock.advance(Math.min(left, 5_000));
  }
  await idle();
}

describe("assent inbox sends what was not delivered", () => {
  test("of a process that was killed before it could, once, however many inboxes run", async () => {
    using at = place();
    await using receiver = await testReceiver(HANG);
    configure(at, receiver);
    at.write("script.yaml", JSON.stringify({ turns: [{ calls: [{ tool: "shell", id: "c1", input: { command: "rm -r one" } }] }] }));
    const run = at.start(["run", "go", "--model", "script:script.yaml", "--on-ask", "park", "--watch"]);
    run.stdin?.end();
    await until("the run is sending", () => receiver.received.length === 1);
    const exited = new Promise((resolve) => run.once("exit", resolve));
    run.kill("SIGKILL");
    await exited;
    receiver.answer = ACCEPT;
    const ledgers = [await openLedger({ directory: at.store }), await openLedger({ directory: at.store })];
    const inboxes = ledgers.map((ledger) => remind(at, ledger, manualClock(Date.now())));
    for (let look = 0; look < 3; look += 1) await Promise.all(inboxes.map((one) => pass(one, 30_000)));
    for (const one of inboxes) await one.stop();
    for (const ledger of ledgers) await ledger.close();
    assert.deepEqual(titles(receiver), ["1 request waits for you", "1 request waits for you"]); // the first had no answer
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("of a session that was left, not of one whose process lives", async () => {
    using at = place();
    await using receiver = await testReceiver();
    configure(at, receiver);
    const session = await scene();
    await session.open("1");
    const inbox = remind(at, session.ledger);
    await pass(inbox, 2 * MINUTE);
    assert.deepEqual(titles(receiver), []);
    await session.close();
    await pass(inbox, MINUTE);
    assert.deepEqual(titles(receiver), ["1 request waits for you"]);
    await pass(inbox, 10 * MINUTE);
    assert.equal(receiver.received.length, 1);
    await inbox.stop();
  });

  test("many at once as one message, without those that were answered meanwhile", async () => {
    using at = place();
    await using receiver = await testReceiver();
    configure(at, receiver);
    const session = await scene();
    for (const call of ["1", "2", "3"]) await session.open(call);
    await session.ledger.answer([answeredDraft(SESSION, "2")]);
    await session.close();
    const inbox = remind(at, session.ledger);
    await pass(inbox, MINUTE);
    assert.deepEqual(titles(receiver), ["2 requests wait for you"]);
    await inbox.stop();
  });

  test("again to a receiver that is down, ever more rarely, and to others at once", async () => {
    using at = place();
    await using receiver = await testReceiver((it) => void it.writeHead(500).end());
    await using other = await testReceiver();
    const slack = ({ url }: TestReceiver): object => ({ type: "slack", url });
    put(userFile(at), JSON.stringify({ notify: { receivers: { down: slack(receiver), other: slack(other) } } }));
    const session = await scene();
    await session.open("1");
    await session.close();
    const inbox = remind(at, session.ledger);
    await pass(inbox, 60 * MINUTE);
    assert.ok(receiver.received.length >= 8 && receiver.received.length <= 16, `${receiver.received.length} attempts in an hour`);
    assert.equal(other.received.length, 1);
    receiver.answer = ACCEPT;
    const before = receiver.received.length;
    await pass(inbox, 30 * MINUTE);
    assert.equal(receiver.received.length, before + 1);
    await inbox.stop();
  });

  test("nothing to a receiver that cannot be used, but says so once", async () => {
    using at = place();
    await using receiver = await testReceiver();
    configure(at, receiver, { type: "webhook", secret: "env:UNSET" });
    const session = await scene();
    await session.open("1");
    await session.close();
    const inbox = remind(at, session.ledger);
    await pass(inbox, 30 * MINUTE);
    await inbox.stop();
    assert.equal(receiver.received.length, 0);
    assert.deepEqual(inbox.warnings, [
      "assent: warning: the receiver one of notifications cannot be used: the environment variable UNSET is not set\n",
    ]);
  });

  test("also if the address of another receiver cannot be read, which it says once", async () => {
    using at = place();
    await using receiver = await testReceiver();
    const receivers = { broken: { type: "slack", url: "env:UNSET" }, one: { type: "slack", url: receiver.url } };
    put(userFile(at), JSON.stringify({ notify: { receivers } }));
    const session = await scene();
    await session.open("1");
    await session.close();
    const inbox = remind(at, session.ledger);
    await pass(inbox, 30 * MINUTE);
    await inbox.stop();
    assert.deepEqual(titles(receiver), ["1 request waits for you"]);
    assert.deepEqual(inbox.warnings, [
      "assent: warning: the receiver broken of notifications cannot be used: the environment variable UNSET is not set\n",
    ]);
  });

  test("tasks of two sessions that have the same id", async () => {
    using at = place();
    await using receiver = await testReceiver();
    configure(at, receiver, { type: "webhook", secret: "env:KEY", events: ["task"] });
    at.env["KEY"] = "key";
    const session = await scene();
    const other = await scene({}, { ledger: session.ledger, id: "s_bbbbbbbbbbbbbbbbbbbb" });
    for (const one of [session, other]) {
      await one.append(startedTaskDraft("t_1"), endedTaskDraft("t_1"));
      await one.close("done");
    }
    const inbox = remind(at, session.ledger);
    await pass(inbox, MINUTE);
    await inbox.stop();
    const keys = receiver.received.flatMap(({ body }) => JSON.parse(body).data.items.map(({ key }: { key: string }) => key));
    assert.deepEqual([keys.length, new Set(keys).size], [2, 2], keys.join());
  });

  test("failed sessions and ended tasks, if they are news and the receiver wants them", async () => {
    using at = place();
    await using receiver = await testReceiver();
    configure(at, receiver, { events: ["failed", "task"] });
    const session = await scene();
    await session.open("1");
    await session.append(startedTaskDraft("t_1"), endedTaskDraft("t_1"));
    await session.append(
      draftOf("turn.ended", { turn: 1, reason: "error", error: { type: "x", message: "the key sk-abcdefgh12345678 is wrong" } }),
    );
    await session.close("failed");
    const late = remind(at, session.ledger, manualClock(START + 25 * 60 * MINUTE));
    await pass(late, MINUTE);
    await late.stop();
    assert.deepEqual(titles(receiver), []);
    const inbox = remind(at, session.ledger);
    await pass(inbox, MINUTE);
    await inbox.stop();
    assert.deepEqual(titles(receiver), ["1 session failed, 1 task ended"]);
    const { text } = JSON.parse(receiver.received[0]?.body ?? "");
    assert.match(text, /looks around \(completed\)/);
    assert.ok(text.includes("the key [redacted: key] is wrong") && !text.includes("sk-abc"), text);
  });

  test("not the failures of guarded calls and of agents, which others report", async () => {
    using at = place();
    await using receiver = await testReceiver();
    configure(at, receiver);
    const group = { client: "claude", title: "Claude Code", id: "x" };
    for (const over of [{ group }, { parent: { session: "s_b", call: "c", task: "t" } }]) {
      const session = await scene(over);
      await session.close("failed");
      const inbox = remind(at, session.ledger);
      await pass(inbox, MINUTE);
      await inbox.stop();
    }
    assert.deepEqual(titles(receiver), []);
  });
});

describe("assent inbox reminds of approvals that expire soon", () => {
  test("once, when a quarter of the time is left, also while the process waits", async () => {
    using at = place();
    await using receiver = await testReceiver();
    configure(at, receiver, { events: ["expiring"] });
    const session = await scene();
    await session.open("1", { expiresAt: new Date(START + 20 * MINUTE).toISOString() });
    await session.open("2");
    const inbox = remind(at, session.ledger);
    await pass(inbox, 14 * MINUTE);
    assert.deepEqual(titles(receiver), []);
    await pass(inbox, 5 * MINUTE);
    assert.deepEqual(titles(receiver), ["1 request expires soon"]);
    await inbox.stop();
    const again = remind(at, session.ledger, inbox.clock);
    await pass(again, MINUTE / 2);
    await again.stop();
    assert.equal(receiver.received.length, 1);
  });
});
