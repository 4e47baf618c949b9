import assert from "node:assert/strict";
import type { Cursor, EventFilter, Ledger } from "../src/ledger-port.ts";
import { SHARED, type StoredEvent } from "../src/model/events.ts";
import { emptySession, fold, IllegalEvent } from "../src/model/fold.ts";
import { parseEvent } from "../src/model/known-event.ts";
import type { TaskProcess } from "../src/model/task/events.ts";
import {
  answeredDraft,
  claimedDraft,
  closedDraft,
  draftOf,
  endedDraft,
  grantedDraft,
  judgedDraft,
  openedDraft,
  proposedDraft,
  startedTaskDraft,
} from "./drafts.ts";
import { begin, type LedgerBench, type LedgerCase, observe, readAll, rejectsWith, sessionId, type Writer, wonBy } from "./ledger-bench.ts";

const A = sessionId("a");
const B = sessionId("b");

/** Two sessions that each asked; A's call was answered and ran. */
async function twoSessions(bench: LedgerBench): Promise<readonly [Writer, Writer]> {
  const one = await begin(bench, A);
  const two = await begin(bench, B);
  const asks = [proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" })];
  await one.append(...asks, openedDraft("c1", { approval: "a_1" }));
  await two.append(...asks, openedDraft("c1", { approval: "a_2" }));
  const [yes] = wonBy(
    await bench.ledger.answer([answeredDraft(A, "c1", { approval: "a_1" }), grantedDraft("g_1", { scope: "session", session: A })]),
  );
  wonBy(await bench.ledger.answer([answeredDraft(B, "c1", { approval: "a_2", outcome: "rejected" })]));
  await one.claim(claimedDraft("c1", { answer: { pos: yes?.pos ?? 0 } }));
  await one.append(endedDraft("c1"), proposedDraft("c2"));
  return [one, two];
}

async function typesOf(ledger: Ledger, from: Cursor, filter: EventFilter): Promise<readonly string[]> {
  return (await readAll(ledger, from, filter)).map(({ type }) => type);
}

function processOf(pid: number): TaskProcess {
  return { pid, pgid: pid, processStart: `boot:${pid}` };
}

const OWN_OF_A = [
  "session.created",
  "session.opened",
  "call.proposed",
  "call.judged",
  "approval.opened",
  "call.claimed",
  "call.ended",
  "call.proposed",
];

const FILTERS: readonly (readonly [string, EventFilter, readonly string[]])[] = [
  ["one chain", { session: A }, OWN_OF_A],
  ["a chain and what names it", { session: A, naming: A }, OWN_OF_A.toSpliced(5, 0, "approval.answered", "grant.created")],
  ["only what names a session", { naming: A }, ["approval.answered", "grant.created"]],
  ["what names the other one", { naming: B }, ["approval.answered"]],
  ["one call of a chain", { session: A, call: "c1" }, ["call.proposed", "call.judged", "approval.opened", "call.claimed", "call.ended"]],
  [
    "one call of a chain and what names it",
    { session: A, naming: A, call: "c1" },
    ["call.proposed", "call.judged", "approval.opened", "approval.answered", "call.claimed", "call.ended"],
  ],
  ["types of a chain", { session: A, types: ["call.ended", "call.proposed"] }, ["call.proposed", "call.ended", "call.proposed"]],
  [
    "types of all chains",
    { types: ["approval.opened", "approval.answered"] },
    ["approval.opened", "approval.opened", "approval.answered", "approval.answered"],
  ],
  ["answers of the shared chain", { session: SHARED, types: ["approval.answered"] }, ["approval.answered", "approval.answered"]],
  ["a chain that does not exist", { session: sessionId("z") }, []],
];

const READS: readonly LedgerCase[] = [
  ...FILTERS.map(
    ([title, filter, expected]): LedgerCase => ({
      id: `read-${title.replaceAll(" ", "-")}`,
      title: `a reader may ask for ${title}`,
      run: async (bench) => {
        await twoSessions(bench);
        assert.deepEqual(await typesOf(bench.ledger, { pos: 0 }, filter), expected);
      },
    }),
  ),
  {
    id: "read-processes",
    title: "a reader finds the events that record the start of a process by its id, alone or among others",
    run: async (bench) => {
      const { ledger } = bench;
      const one = await begin(bench, A);
      const two = await begin(bench, B);
      await one.append(proposedDraft("c1"), judgedDraft("c1"));
      await one.claim(claimedDraft("c1"));
      await one.append(draftOf("call.started", { call: "c1", ...processOf(41), others: [processOf(42), processOf(43)] }), endedDraft("c1"));
      await two.append(startedTaskDraft("t_1"), draftOf("task.process", { task: "t_1", ...processOf(41) }));
      for (const [filter, expected] of [
        [{ process: 41 }, ["call.started", "task.process"]],
        [{ process: 43 }, ["call.started"]],
        [{ session: B, process: 41 }, ["task.process"]],
        [{ process: 41, types: ["task.process"] }, ["task.process"]],
        [{ process: 4 }, []],
      ] as const)
        assert.deepEqual(await typesOf(ledger, { pos: 0 }, filter), expected, JSON.stringify(filter));
    },
  },
  {
    id: "read-order",
    title: "positions rise over the whole store, and every event is what its writer was given",
    run: async (bench) => {
      const [one] = await twoSessions(bench);
      const stored = await one.append(judgedDraft("c2"));
      const events = await readAll(bench.ledger);
      assert.ok(events.every(({ pos }, at) => pos > (events[at - 1]?.pos ?? 0)));
      assert.deepEqual(events.at(-1), stored[0]);
      assert.equal(await bench.ledger.head(), stored[0]?.pos);
    },
  },
  {
    id: "cursor",
    title: "a reader continues strictly after its cursor, of the store or of one chain",
    run: async (bench) => {
      await twoSessions(bench);
      const events = await readAll(bench.ledger);
      for (const [at, { pos, session, seq }] of events.entries()) {
        assert.deepEqual(await readAll(bench.ledger, { pos }), events.slice(at + 1));
        const rest = events.slice(at + 1).filter((event) => event.session === session);
        assert.deepEqual(await readAll(bench.ledger, { session, seq }, { session }), rest);
      }
    },
  },
  {
    id: "cursor-ahead",
    title: "a cursor ahead of the head is refused: the store was replaced",
    run: async (bench) => {
      const writer = await begin(bench);
      const head = await bench.ledger.head();
      assert.deepEqual(await readAll(bench.ledger, { pos: head }), []);
      assert.deepEqual(await readAll(bench.ledger, { session: writer.session, seq: 2 }), []);
      await rejectsWith("cursor_ahead", readAll(bench.ledger, { pos: head + 1 }));
      await rejectsWith("cursor_ahead", readAll(bench.ledger, { session: writer.session, seq: 3 }));
      const subscribed = new Promise((_, reject) => {
        bench.ledger.subscribe({ pos: head + 1 }, {}, () => undefined, reject); // it throws, or reports
      });
      await rejectsWith("cursor_ahead", subscribed);
    },
  },
  {
    id: "fold-of-both-chains",
    title: "own chain and shared events folded together are the state; a second answer would be illegal",
    run: async (bench) => {
      const writer = await begin(bench);
      await writer.append(proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1"));
      wonBy(await bench.ledger.answer([answeredDraft(writer.session, "c1")]));
      const own = await folded(bench.ledger, { session: writer.session });
      assert.equal(own.calls.get("c1")?.state, "waiting");
      const live = await folded(bench.ledger, { session: writer.session, naming: writer.session });
      assert.equal(live.calls.get("c1")?.state, "approved");
      const [answered] = await readAll(bench.ledger, { pos: 0 }, { naming: writer.session });
      const again = answered && parseEvent(answered);
      assert.ok(again);
      assert.throws(() => fold(live, again), IllegalEvent);
    },
  },
];

async function folded(ledger: Ledger, filter: EventFilter): Promise<ReturnType<typeof emptySession>> {
  const state = emptySession();
  for (const stored of await readAll(ledger, { pos: 0 }, filter)) {
    const event = parseEvent(stored);
    assert.ok(event);
    fold(state, event);
  }
  return state;
}

const isMark = (mark: string) => (event: StoredEvent) => event.type === "call.proposed" && event.body["call"] === mark;

const SUBSCRIPTIONS: readonly LedgerCase[] = [
  {
    id: "subscribe",
    title: "a subscriber sees what is stored after its cursor and then every new event, once, in order",
    run: async (bench) => {
      const [one] = await twoSessions(bench);
      const observer = observe(bench.ledger, { pos: 3 });
      await one.append(judgedDraft("c2"));
      await one.append(proposedDraft("mark"));
      await observer.seen(isMark("mark"));
      assert.deepEqual(observer.events, await readAll(bench.ledger, { pos: 3 }));
      observer.close();
    },
  },
  {
    id: "subscribe-filter",
    title: "a subscriber of one session sees its chain and the answers that name it, and nothing else",
    run: async (bench) => {
      const one = await begin(bench, A);
      const filter = { session: A, naming: A };
      const observer = observe(bench.ledger, { pos: 0 }, filter);
      const two = await begin(bench, B);
      for (const writer of [one, two]) await writer.append(proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }));
      await one.append(openedDraft("c1"));
      wonBy(await bench.ledger.answer([closedDraft(A, "c1")]));
      await one.append(proposedDraft("mark"));
      await observer.seen(isMark("mark"));
      assert.deepEqual(observer.events, await readAll(bench.ledger, { pos: 0 }, filter));
      assert.equal(observer.events.length, 7);
      observer.close();
    },
  },
  {
    id: "subscribe-second",
    title: "a subscriber sees the events of another handle too, each once, in order",
    run: async (bench) => {
      const writer = await begin(bench);
      const observer = observe(bench.ledger, { pos: 0 });
      await writer.append(proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1"));
      const other = await bench.second();
      wonBy(await other.answer([answeredDraft(writer.session, "c1")]));
      await observer.seen(({ type }) => type === "approval.answered");
      await writer.append(proposedDraft("mark"));
      await observer.seen(isMark("mark"));
      assert.deepEqual(observer.events, await readAll(bench.ledger));
      observer.close();
    },
  },
  {
    id: "subscribe-close",
    title: "a closed subscription delivers nothing more, and a throwing sink does not end it",
    run: async (bench) => {
      const writer = await begin(bench);
      const both = Promise.withResolvers<void>();
      let told = 0;
      const throwing = bench.ledger.subscribe({ pos: 0 }, { types: ["call.proposed"] }, () => {
        told += 1;
        if (told === 2) both.resolve();
        throw new Error("a broken sink");
      });
      const closed = observe(bench.ledger, { pos: 0 });
      closed.close();
      const observer = observe(bench.ledger, { pos: 0 });
      await writer.append(proposedDraft("c1"));
      await writer.append(proposedDraft("mark"));
      await Promise.all([observer.seen(isMark("mark")), both.promise]); // subscriptions do not wait for each other
      assert.deepEqual([told, closed.events.length], [2, 0]);
      const left = Promise.withResolvers<void>();
      const once: StoredEvent[] = [];
      const leaving = bench.ledger.subscribe({ pos: await bench.ledger.head() }, {}, (event) => {
        once.push(event);
        leaving.close();
        left.resolve();
      });
      await writer.append(proposedDraft("c2"), proposedDraft("end"));
      await Promise.all([observer.seen(isMark("end")), left.promise]);
      assert.equal(once.length, 1);
      throwing.close();
      observer.close();
    },
  },
  {
    id: "subscribe-append",
    title: "a sink may append: its events are delivered after the current one",
    run: async (bench) => {
      const writer = await begin(bench, A);
      const other = await begin(bench, B);
      const pending: Promise<unknown>[] = [];
      const subscription = bench.ledger.subscribe({ pos: 0 }, { types: ["call.proposed"] }, (event) => {
        if (isMark("c1")(event)) pending.push(other.append(proposedDraft("mark")));
      });
      const observer = observe(bench.ledger, { pos: 0 });
      await writer.append(proposedDraft("c1"));
      await observer.seen(isMark("mark"));
      await Promise.all(pending);
      assert.deepEqual(observer.events, await readAll(bench.ledger));
      subscription.close();
      observer.close();
    },
  },
  {
    id: "concurrent-observers",
    title: "observers that join and leave during many appends all see one sequence",
    run: async (bench) => {
      const writer = await begin(bench);
      const early = observe(bench.ledger, { pos: 0 });
      const late: ReturnType<typeof observe>[] = [];
      for (let at = 0; at < 300; at += 1) {
        await writer.append(draftOf("hook.ran", { event: "post_tool_use", hook: `h${at}`, outcome: "allow", durationMs: at }));
        if (at % 100 === 50) late.push(observe(bench.ledger, { pos: at }));
        if (at === 200) late.shift()?.close();
      }
      await writer.append(proposedDraft("mark"));
      const events = await readAll(bench.ledger);
      for (const observer of [early, ...late]) {
        await observer.seen(isMark("mark"));
        assert.deepEqual(observer.events, events.slice(-observer.events.length));
        observer.close();
      }
      assert.deepEqual(early.events, events);
      assert.equal(late.length, 2);
    },
  },
];

/** Reading and following: filters, cursors, order, each event once. */
export const READING_CASES: readonly LedgerCase[] = [...READS, ...SUBSCRIPTIONS];
