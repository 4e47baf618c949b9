import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEnd } from "../../src/loop/conversation-state.ts";
import { createSchedules, type Schedules } from "../../src/schedules/schedules.ts";
import { type AgentSession, createAgentSession, type RunningTasks } from "../../src/session/agent-session.ts";
import { NoticeRunError } from "../../src/session/settle.ts";
import { type Rehearsal, rehearse } from "../rehearsal.ts";

/** Background work that ends when the test says so. */
function workOf(): RunningTasks & { readonly start: () => void; readonly end: () => void; readonly cancelled: string[] } {
  let running = 0;
  let waiting: (() => void)[] = [];
  const cancelled: string[] = [];
  const end = (): void => {
    running -= 1;
    if (running > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  return {
    cancelled,
    running: () => running,
    idle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    start: () => {
      running += 1;
    },
    end,
    parkAll: async () => undefined,
    cancel: async (id, by) => void cancelled.push(`${id} ${by}`),
    cancelAll: async (by) => {
      cancelled.push(by);
      while (running > 0) end();
    },
  };
}

type Bench = Rehearsal & {
  readonly agent: AgentSession;
  readonly tasks: ReturnType<typeof workOf>;
  readonly schedules: Schedules;
  readonly told: (RunEnd | undefined)[];
  readonly queue: (text: string, kind?: string) => Promise<void>;
  readonly abort: AbortController;
};

async function bench(script: string, options: { interactive?: boolean } = {}): Promise<Bench> {
  const rehearsal = await rehearse(script);
  const { session, clock, ids } = rehearsal;
  const tasks = workOf();
  const told: (RunEnd | undefined)[] = [];
  const abort = new AbortController();
  const agentOf: { wake?: () => void } = {};
  const schedules = createSchedules({ session, clock, ids, wake: () => agentOf.wake?.() });
  const agent = createAgentSession({
    ...{ session, conversation: rehearsal.conversation, tasks, schedules, signal: abort.signal, ...options },
    onDrained: (end) => void told.push(end),
  });
  agentOf.wake = agent.wake;
  const queue = async (text: string, kind = "task"): Promise<void> => {
    const body = { notice: ids.next("n_"), kind, modelText: text, displayText: text };
    await session.record([session.draft("notice.queued", body)], "normal");
  };
  return { ...rehearsal, agent, tasks, schedules, told, queue, abort };
}

const turns = (...says: string[]): string => `turns:\n${says.map((say) => `  - say: ${say}\n`).join("")}`;
const never = new AbortController().signal;

test("nothing to wait for: a run settles at once", async () => {
  const b = await bench(turns("done"));
  assert.equal((await b.agent.send("go", never)).text, "done");
  assert.equal(await b.agent.settle(never), undefined);
});

test("a run waits until its background work has ended and its notice is delivered, and ends with the last text", async () => {
  const b = await bench(turns("started", "it is done"));
  b.tasks.start();
  await b.agent.send("go", never);
  const settling = b.agent.settle(never);
  await b.queue("<task-notification>1</task-notification>");
  b.tasks.end();
  assert.deepEqual(await settling, { reason: "done", text: "it is done" });
});

test("draining an empty queue does nothing; a notice queued later is delivered by itself", async () => {
  const b = await bench(turns("hello", "heard"));
  await b.agent.send("go", never);
  assert.equal(await b.agent.drain(), undefined);
  await b.queue("n");
  b.agent.wake();
  assert.equal((await b.agent.drain())?.text, "heard");
  assert.equal(b.session.state.notices.size, 0);
});

test("ten drains at once are one, and all settle", async () => {
  const b = await bench(turns("heard"));
  await b.queue("one");
  await b.queue("two");
  const ends = await Promise.all(Array.from({ length: 10 }, () => b.agent.drain()));
  assert.deepEqual(new Set(ends.map((end) => end?.text)), new Set(["heard"]));
  assert.equal((await b.events("turn.started")).length, 1);
});

test("a provider error while draining rejects all waiting callers, and a later notice is delivered", async () => {
  const b = await bench("turns:\n  - error: { status: 400, message: broken }\n  - say: heard\n");
  await b.queue("one");
  const waits = await Promise.allSettled([b.agent.drain(), b.agent.drain()]);
  for (const wait of waits) {
    assert.ok(wait.status === "rejected" && wait.reason instanceof NoticeRunError);
    assert.equal(wait.reason.end.error?.message, "broken (status 400)");
  }
  await b.queue("two");
  assert.equal((await b.agent.drain())?.text, "heard");
});

test("a run that is held back ends with the error, and does not hang", async () => {
  const b = await bench("turns:\n  - say: started\n  - error: { status: 400, message: broken }\n");
  await b.agent.send("go", never);
  await b.queue("one");
  assert.equal((await b.agent.settle(never))?.error?.message, "broken (status 400)");
});

test("a wake while nothing runs tells the notice by itself, and says what came of it", async () => {
  const b = await bench(turns("hello", "heard"));
  await b.agent.send("go", never);
  await b.queue("n");
  b.agent.wake();
  await b.agent.drain();
  assert.deepEqual(
    b.told.map((end) => end?.text),
    ["heard"],
  );
});

test("a run waits for a notice that is being delivered already", async () => {
  const b = await bench("turns:\n  - say: started\n  - { say: heard, delayMs: 1000 }\n");
  await b.agent.send("go", never);
  await b.queue("n");
  b.agent.wake();
  await b.clock.advance(10);
  assert.equal(b.session.state.notices.size, 0, "the model has it");
  const settling = b.agent.settle(never);
  await b.clock.advance(1000);
  assert.equal((await settling)?.text, "heard");
});

test("a person's message that waits goes before a notice", async () => {
  const b = await bench("turns:\n  - { say: first, delayMs: 1000 }\n  - say: second\n");
  const first = b.agent.send("one", never);
  const second = b.agent.send("two", never);
  await b.queue("n");
  const drain = b.agent.drain();
  await b.clock.advance(1000);
  await first;
  await second;
  await drain;
  const messages = (await b.events("message.user")).map(({ body }) => body.origin);
  assert.equal(messages[0], "user");
  assert.equal(messages.filter((origin) => origin === "user").length, 2);
  assert.ok(messages.indexOf("notice") > 0);
});

test("a signal while a run is held back ends the wait as cancelled", async () => {
  const b = await bench(turns("started"));
  b.tasks.start();
  await b.agent.send("go", never);
  const aborting = new AbortController();
  const settling = b.agent.settle(aborting.signal);
  aborting.abort();
  assert.equal((await settling)?.reason, "cancelled");
});

test("a signal ends the wait for a schedule that never runs out", async () => {
  const b = await bench(turns("started"));
  await b.agent.send("go", never);
  await b.schedules.create({ every: "1h", prompt: "p" });
  const aborting = new AbortController();
  const settling = b.agent.settle(aborting.signal);
  aborting.abort();
  assert.equal((await settling)?.reason, "cancelled");
});

test("a run waits for a schedule of its own, tells its notice, and settles when it is gone", async () => {
  const b = await bench(turns("started", "fired"));
  await b.agent.send("go", never);
  await b.schedules.create({ every: "1h", prompt: "p", recurring: false });
  const settling = b.agent.settle(never);
  await b.clock.advance(3_600_000);
  assert.equal((await settling)?.text, "fired");
});

test("a schedule whose turn fails ends the wait with the error", async () => {
  const b = await bench("turns:\n  - say: started\n  - error: { status: 400, message: broken }\n");
  await b.agent.send("go", never);
  await b.schedules.create({ every: "1h", prompt: "p" });
  const settling = b.agent.settle(never);
  await b.clock.advance(3_600_000);
  assert.equal((await settling)?.error?.message, "broken (status 400)");
});

test("a run that is parked waits for its background work, and leaves its notice for later", async () => {
  const b = await bench(turns("never said"));
  b.tasks.start();
  await b.queue("n");
  const settling = b.agent.settle(never, { deliver: false });
  b.tasks.end();
  assert.equal(await settling, undefined);
  assert.equal(b.session.state.notices.size, 1);
});

test("an interrupt ends the turn under way; the next message works", async () => {
  const b = await bench("turns:\n  - { say: slow, delayMs: 60000 }\n  - say: fine\n");
  const first = b.agent.send("one", never);
  await b.clock.advance(10);
  b.agent.interrupt();
  assert.equal((await first).reason, "cancelled");
  assert.equal((await b.agent.send("two", never)).text, "fine");
});

test("a history is made shorter between turns: it waits for those under way, and what is said after it waits for it", async () => {
  const said = Array.from({ length: 12 }, (_, at) => `answer${at}`);
  const b = await bench(`${turns(...said)}  - { say: slow, delayMs: 1000 }\n  - say: SUMMARY\n  - say: after\n`);
  for (const text of said) assert.equal((await b.agent.send("go", never)).text, text);
  const slow = b.agent.send("slow", never);
  const shorter = b.agent.compact(never);
  const after = b.agent.send("after", never);
  assert.deepEqual(await b.events("history.compacted"), []);
  await b.clock.advance(1000);
  assert.equal((await slow).text, "slow");
  assert.equal(await shorter, true);
  assert.equal((await after).text, "after");
  assert.match((await b.events("history.compacted"))[0]?.body.summary ?? "", /SUMMARY/);
});

test("a history of a few turns stays as it is", async () => {
  const b = await bench(turns("hello"));
  await b.agent.send("go", never);
  assert.equal(await b.agent.compact(never), false);
  assert.deepEqual(await b.events("history.compacted"), []);
});

test("an interrupt ends the making of a summary; nothing is made shorter after a shutdown", async () => {
  const said = Array.from({ length: 12 }, (_, at) => `answer${at}`);
  const b = await bench(`${turns(...said)}  - { say: SUMMARY, delayMs: 60000 }\n`);
  for (const _ of said) await b.agent.send("go", never);
  const shorter = b.agent.compact(never);
  await b.clock.advance(10);
  b.agent.interrupt();
  assert.equal(await shorter, false);
  await b.agent.shutdown("person");
  assert.equal(await b.agent.compact(never), false);
  assert.deepEqual(await b.events("history.compacted"), []);
});

test("a notice queued during compaction is delivered after it", async () => {
  const said = Array.from({ length: 12 }, (_, at) => `answer${at}`);
  const b = await bench(`${turns(...said)}  - { say: SUMMARY, delayMs: 1000 }\n  - say: heard\n`);
  for (const _ of said) await b.agent.send("go", never);
  const shorter = b.agent.compact(never);
  await b.clock.advance(10);
  await b.queue("n");
  b.agent.wake();
  assert.equal(b.session.state.notices.size, 1);
  await b.clock.advance(1000);
  assert.equal(await shorter, true);
  await b.agent.whenIdle();
  assert.deepEqual([b.session.state.notices.size, b.told[0]?.text], [0, "heard"]);
});

test("after interrupted turns, compaction does not deliver notices by itself", async () => {
  const said = Array.from({ length: 12 }, (_, at) => `answer${at}`);
  const b = await bench(`${turns(...said)}  - { say: slow, delayMs: 60000 }\n  - say: SUMMARY\nallowUnused: true\n`);
  for (const _ of said) await b.agent.send("go", never);
  const slow = b.agent.send("slow", never);
  await b.clock.advance(10);
  b.agent.interrupt();
  await slow;
  assert.equal(await b.agent.compact(never), true);
  await b.queue("n");
  b.agent.wake();
  assert.equal(b.agent.isBusy(), false);
  assert.equal(b.session.state.notices.size, 1);
});

test("a shutdown ends the turn, the background work and the schedules, keeps the notices, and happens once", async () => {
  const b = await bench("turns:\n  - { say: slow, delayMs: 60000 }\n");
  const sending = b.agent.send("one", never);
  await b.clock.advance(10);
  b.tasks.start();
  await b.schedules.create({ every: "1h", prompt: "p" });
  await b.queue("n");
  await Promise.all([b.agent.shutdown("person"), b.agent.shutdown("signal")]);
  assert.equal((await sending).reason, "cancelled");
  assert.deepEqual(b.tasks.cancelled, ["person"]);
  assert.deepEqual(b.schedules.list(), []);
  assert.equal(b.session.state.notices.size, 1);
  assert.equal((await b.agent.send("two", never)).reason, "cancelled", "nothing runs any more");
});

test("a reset drops undelivered notices, which never reach the new conversation", async () => {
  const b = await bench(turns("never said"));
  b.tasks.start();
  await b.queue("n");
  await b.agent.shutdown("reset", { notices: "drop" });
  assert.equal(b.session.state.notices.size, 0);
  assert.equal((await b.events("notice.dropped")).length, 1);
});

test("a notice about a proposal starts no turn, and is delivered with the next message", async () => {
  const { agent, queue, events, messages } = await bench(turns("one", "two", "three"), { interactive: true });
  await agent.send("go", never);
  await queue("A person undid x.", "proposal");
  agent.wake();
  assert.equal(await agent.settle(never), undefined);
  assert.deepEqual(await agent.resume(never), { reason: "done", text: "" });
  assert.equal((await events("turn.started")).length, 1);
  await agent.send("and now?", never);
  const [, second, ...more] = await events("turn.started");
  assert.deepEqual([second?.body.origin, more], ["user", []]);
  assert.match(JSON.stringify(messages.slice(-3)), /and now\?.*A person undid x\..*two/);
});

test("resuming a parked session delivers notices about proposals, too; a task's notice takes them along", async () => {
  const { agent, queue, messages } = await bench(turns("one", "two", "three"));
  await agent.send("go", never);
  await queue("A person applied x.", "proposal");
  assert.equal((await agent.resume(never, { deliverAll: true })).text, "two");
  await queue("A person applied y.", "proposal");
  await queue("It is done.");
  assert.equal((await agent.settle(never))?.text, "three");
  assert.match(JSON.stringify(messages.at(-2)), /A person applied y\.\\nIt is done\./);
});
