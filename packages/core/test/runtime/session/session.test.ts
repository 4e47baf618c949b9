import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Draft,
  type Ledger,
  LedgerError,
  type LedgerEvent,
  memoryLedger,
  openSession,
  readSessionState,
  type StoredEvent,
} from "@assent/core";
import {
  answeredDraft,
  claimedDraft,
  closedDraft,
  countingIds,
  createdDraft,
  judgedDraft,
  manualClock,
  openedDraft,
  proposedDraft,
} from "@assent/core/testing";
import { bench, call, HOLDER, outcomes, says, turn, until } from "../harness.ts";

test("a new session is created and opened in one record, and its id is of the right form", async (t) => {
  const b = await bench(t);
  assert.match(b.session.id, /^s_[a-z2-7]{20}$/);
  const types: string[] = [];
  for await (const event of b.ledger.read({ session: b.session.id, seq: 0 })) types.push(event.type);
  assert.deepEqual(types, ["session.created", "session.opened"]);
  assert.equal(b.session.state.created?.workspace, "/workspace");
});

test("a session whose call another agent runs opens only for the process that passes on its report", async (t) => {
  const b = await bench(t);
  const { id } = await openSession(b, { holder: HOLDER, create: { cwd: "/w", group: { client: "other", title: "Other Agent", id: "x" } } });
  await assert.rejects(openSession(b, { holder: HOLDER, id, takeOver: true }), { name: "LedgerError", type: "session_run_elsewhere" });
  assert.equal((await openSession(b, { holder: HOLDER, id, takeOver: true, runElsewhere: true })).id, id);
});

test("an unknown session, or the beginning of a known id, is session_not_found", async (t) => {
  const b = await bench(t);
  for (const id of ["s_nope", b.session.id.slice(0, -1), "", "_store"]) {
    await assert.rejects(openSession(b, { holder: HOLDER, id }), { name: "LedgerError", type: "session_not_found" });
  }
});

test("opening a held session fails with session_in_use; taking it over fences the holder", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" } });
  await assert.rejects(openSession(b, { holder: HOLDER, id: b.session.id }), { name: "LedgerError", type: "session_in_use" });
  const taken = await bench(t, { beside: b, reopen: { id: b.session.id, takeOver: true } });
  const report = await b.process([call("edit", "old writer")]);
  assert.deepEqual(outcomes(report), ["denied store_unavailable"]);
  assert.deepEqual(b.world.lines, [], "no effect by the old writer");
  assert.equal((b.dispatcher.failure() as LedgerError).type, "stale_writer");
  assert.deepEqual(outcomes(await taken.process([call("edit", "new writer")])), ["succeeded"]);
});

test("a writer that is fenced while its call waits for a person runs nothing when the answer comes", async (t) => {
  const b = await bench(t);
  const running = b.process([call("edit", "x", "c1")]);
  await until(() => b.dispatcher.pending().length === 1);
  const { id } = b.dispatcher.pending()[0]!;
  const taken = await bench(t, { beside: b, reopen: { id: b.session.id, takeOver: true } });
  await b.dispatcher.answer(says(id));
  assert.deepEqual(outcomes(await running), ["denied store_unavailable"]);
  assert.deepEqual(b.world.lines, []);
  assert.deepEqual(outcomes(await taken.resume()), ["succeeded"]);
  assert.deepEqual(b.world.lines, ["x"]);
});

test("a fenced writer that receives an answer for its successor's approval reports that it is fenced", async () => {
  const ports = { ledger: memoryLedger(), clock: manualClock(), ids: countingIds() };
  const fenced = await openSession(ports, { holder: HOLDER, create: { cwd: "/workspace" } });
  const successor = await openSession(ports, { holder: HOLDER, id: fenced.id, takeOver: true });
  await successor.record([proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1")], "normal");
  await ports.ledger.answer([answeredDraft(fenced.id, "c1")]);
  await fenced.refresh();
  const head = await ports.ledger.head();
  await assert.rejects(fenced.record([proposedDraft("c2")], "normal"), { name: "LedgerError", type: "stale_writer" });
  await assert.rejects(async () => await fenced.claim(claimedDraft("c2")), { name: "LedgerError", type: "stale_writer" });
  assert.equal(await ports.ledger.head(), head);
});

test("an unfenced writer that receives an invalid event stops writing and reports that event", async () => {
  const ledger = memoryLedger();
  const stranger: StoredEvent = { ...answeredDraft("", "c9"), session: "_store", seq: 9, epoch: 1, pos: 99, prev: "", hash: "" };
  const heard = {
    ...ledger,
    read: (...given: Parameters<Ledger["read"]>) => (given[1]?.naming ? told(given[1].naming) : ledger.read(...given)),
  };
  async function* told(session: string): AsyncGenerator<StoredEvent> {
    yield { ...stranger, body: { ...stranger.body, session } };
  }
  const session = await openSession(
    { ledger: heard, clock: manualClock(), ids: countingIds() },
    { holder: HOLDER, create: { cwd: "/workspace" } },
  );
  await session.refresh();
  const head = await ledger.head();
  for (const write of [() => session.record([proposedDraft("c1")], "normal"), async () => await session.claim(claimedDraft("c1"))])
    await assert.rejects(write, { name: "IllegalEvent", type: "approval.answered" });
  assert.equal(await ledger.head(), head);
});

test("a closed session can be opened again, and its state is the same", async (t) => {
  const b = await bench(t, { person: "nobody", deps: { onAsk: "park" } });
  await b.process([call("edit", "x", "c1"), call("read", "y", "c2")]);
  await b.session.close("parked", 75);
  const { state } = await openSession(b, { holder: HOLDER, id: b.session.id });
  assert.deepEqual([...state.calls.keys()], ["c1", "c2"]);
  assert.deepEqual([...state.calls.values()], [...b.session.state.calls.values()]);
  assert.deepEqual(state.closed, { reason: "parked", exit: 75 });
  assert.deepEqual([...state.ids.keys()], ["c1", "c2"]);
});

test("after closing a session its process writes and runs nothing more there", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" } });
  await b.process([call("edit", "x", "c1")]);
  await b.session.close("done", 0);
  const head = await b.ledger.head();
  await assert.rejects(b.session.record([b.session.draft("message.user", { turn: 1, content: "more", origin: "user" })], "normal"), {
    name: "LedgerError",
    type: "stale_writer",
    message: /is closed\. Open it again/,
  });
  assert.deepEqual(outcomes(await b.process([call("edit", "y", "c2")])), ["denied store_unavailable"]);
  assert.deepEqual(b.world.lines, ["x"]);
  assert.equal(await b.ledger.head(), head);
});

/** A ledger that says it survives the process, so that everything a durable one needs is made. */
const durable = (ledger: Ledger): Ledger => ({ ...ledger, durable: true });

test("a durable session is opened from its snapshot and what came after it", async (t) => {
  const b = await bench(t, { wrap: durable, person: "nobody", deps: { onAsk: "park" } });
  await b.process([call("edit", "x", "c1")]);
  await b.session.close("parked", 75);
  assert.equal((await b.ledger.latest(b.session.id))?.seq, b.session.state.seq);
  await b.ledger.answer([
    { ...closedDraft(b.session.id, "c1", { approval: (await b.ledger.pending("approvals"))[0]!.id }), at: "2026-01-01T00:00:00.000Z" },
  ]);
  const again = await bench(t, { beside: b, reopen: { id: b.session.id } });
  const open = again.session.state.calls.get("c1");
  assert.ok(open?.state === "waiting" && open.approvalState === "cancelled");
});

test("a snapshot that is not ours is ignored, and the session folded from its first event", async (t) => {
  for (const damage of [{ version: 99 }, { version: 1 }, null, "text", { version: 1, calls: 7 }]) {
    const b = await bench(t, { person: "nobody", deps: { onAsk: "park" } });
    await b.process([call("edit", "x", "c1")]);
    await b.session.close("parked", 75);
    await b.ledger.snapshot(b.session.id, 3, damage);
    const { state } = await openSession(b, { holder: HOLDER, id: b.session.id });
    assert.deepEqual([...state.calls.keys()], ["c1"], JSON.stringify(damage));
    await b.ledger.close();
  }
});

test("store_newer: a session with an event of a newer version is not opened for writing", async (t) => {
  const b = await bench(t);
  await b.session.close("done", 0);
  const newer: Ledger = {
    ...b.ledger,
    head: async () => 99,
    read: async function* (from, filter) {
      yield* b.ledger.read(from, filter);
      if (filter?.session === b.session.id)
        yield { session: b.session.id, seq: 99, pos: 99, epoch: 9, at: "", type: "call.imagined", v: 1, body: {} };
    },
  };
  await assert.rejects(openSession({ ...b, ledger: newer }, { holder: HOLDER, id: b.session.id }), { type: "store_newer" });
});

test("a failed append stores and folds nothing, and the next one continues from the disk", async () => {
  const [clock, ids] = [manualClock(), countingIds()];
  const plain = memoryLedger({ clock, ids });
  let fail = false;
  const ledger: Ledger = {
    ...plain,
    append: (...args) => (fail ? Promise.reject(new LedgerError("store_locked", "busy")) : plain.append(...args)),
  };
  const session = await openSession({ ledger, clock, ids }, { holder: HOLDER, create: createdDraft().body });
  fail = true;
  await assert.rejects(session.record([proposedDraft("c1")], "normal"), { type: "store_locked" });
  assert.equal(session.state.calls.size, 0);
  fail = false;
  await session.record([proposedDraft("c2")], "normal");
  assert.deepEqual([...session.state.calls.keys()], ["c2"]);
});

test("writes issued together are stored and folded in that order", async () => {
  const [clock, ids] = [manualClock(), countingIds()];
  const ledger = memoryLedger({ clock, ids });
  const session = await openSession({ ledger, clock, ids }, { holder: HOLDER, create: createdDraft().body });
  await Promise.all(["c1", "c2", "c3"].map((id) => session.record([proposedDraft(id)], "normal")));
  assert.deepEqual([...session.state.calls.keys()], ["c1", "c2", "c3"]);
  assert.equal(session.state.seq, 5);
});

test("a ledger that tells of an append later than of the claim after it is folded in the order of the record", async (t) => {
  const b = await bench(t, {
    policy: { mode: "yolo" },
    wrap: (ledger) => ({
      ...ledger,
      append: async (...args) => {
        const events = await ledger.append(...args);
        await turn();
        return events;
      },
    }),
  });
  const report = await b.process([call("edit", "x"), call("edit", "y"), call("read", "z")]);
  assert.deepEqual(outcomes(report), ["succeeded", "succeeded", "succeeded"]);
  assert.deepEqual(b.world.lines, ["x", "y"]);
});

test("after a write that may be stored, writes behind it are refused and do not wait for it", async () => {
  const plain = memoryLedger();
  let isLost = false;
  const ledger: Ledger = {
    ...plain,
    append: async (...args) => {
      const stored = await plain.append(...args);
      if (!isLost) return stored;
      isLost = false;
      throw new LedgerError("store_unreachable", "away");
    },
  };
  const session = await openSession({ ledger, clock: manualClock(), ids: countingIds() }, { holder: HOLDER, create: { cwd: "/" } });
  isLost = true;
  const writes = [session.record([proposedDraft("c1")], "full"), session.record([proposedDraft("c2")], "full")];
  for (const write of writes) await assert.rejects(write, { type: "store_unreachable" });
  await assert.rejects(session.record([proposedDraft("c3")], "full"), { type: "store_unreachable" });
  const again = await readSessionState(plain, session.id);
  assert.deepEqual([...(again?.calls.keys() ?? [])], ["c1", "c2"]);
});

test("two writes that fail among many issued together fail alone, and every other one is stored, in order", async () => {
  for (const failing of [[1], [1, 3], [0, 1, 2], [2, 6], [0, 7], [1, 5, 6]]) {
    const [clock, ids] = [manualClock(), countingIds()];
    const plain = memoryLedger({ clock, ids });
    let count = -1;
    const ledger: Ledger = {
      ...plain,
      append: (lease, expected, batch) => {
        count += 1;
        return failing.includes(count - 1) ? Promise.reject(new LedgerError("store_locked", "busy")) : plain.append(lease, expected, batch);
      },
    };
    const session = await openSession({ ledger, clock, ids }, { holder: HOLDER, create: createdDraft().body });
    const calls = ["c1", "c2", "c3", "c4", "c5"];
    let settled = 0;
    const writes = calls.map((id) => session.record([proposedDraft(id)], "normal").finally(() => (settled += 1)));
    const all = Promise.allSettled(writes);
    await until(() => settled === calls.length, `an end of every write with failures at ${failing}`);
    const stored = (await all).flatMap(({ status }, at) => (status === "fulfilled" ? [calls[at]] : []));
    assert.deepEqual([...session.state.calls.keys()], stored, `failures at ${failing}`);
    assert.ok(stored.length >= calls.length - failing.length);
    await session.record([proposedDraft("last")], "normal");
    assert.equal(session.state.calls.has("last"), true);
  }
});

/** A ledger in which every question is answered yes inside the commit of its opening, and of which we are told late of some writes. */
function answering(late: "none" | "claim" | "append"): (ledger: Ledger) => Ledger {
  const after = async (what: typeof late): Promise<void> => {
    for (let turns = 0; late === what && turns < 3; turns += 1) await turn();
  };
  return (ledger) => {
    const approve = async ({ session, at, body }: LedgerEvent<"approval.opened">): Promise<void> => {
      const { approval, call: of, revision, fingerprint } = body;
      const yes = { approval, session, call: of, revision, fingerprint, outcome: "approved", by: says("").by, reason: null } as const;
      await ledger.answer([{ type: "approval.answered", v: 1, at, body: yes }]);
    };
    return {
      ...ledger,
      claim: async (...args) => {
        const claimed = await ledger.claim(...args);
        await after("claim");
        return claimed;
      },
      append: async (...args) => {
        const stored = await ledger.append(...args);
        for (const event of stored) if (event.type === "approval.opened") await approve(event);
        await after("append");
        return stored;
      },
    };
  };
}

for (const late of ["none", "claim", "append"] as const) {
  test(`an answer between two of our own events is folded between them and used (delivered late: ${late})`, async (t) => {
    const b = await bench(t, { policy: { rules: { team: { ask: ["edit"] } } }, wrap: answering(late) });
    let report: readonly string[] | undefined;
    const calls = [call("read", "r"), call("read", "s"), call("edit", "x"), call("read", "t"), call("edit", "y")];
    const running = b.process(calls).then((ended) => {
      report = outcomes(ended);
    });
    await until(() => report !== undefined, "the end of the batch");
    await running;
    assert.deepEqual(report, ["succeeded", "succeeded", "succeeded", "succeeded", "succeeded"]);
    assert.equal(b.dispatcher.failure(), undefined);
    assert.deepEqual(b.world.lines, ["x", "y"]);
  });
}

test("who listens hears every event of the session and every answer that names it, in the order of the store, until they close", async (t) => {
  const b = await bench(t);
  const heard: LedgerEvent[] = [];
  const listening = b.session.listen((event) => void heard.push(event));
  const running = b.process([call("edit", "x", "c1")]);
  await until(() => b.dispatcher.pending().length === 1);
  await b.dispatcher.answer(says(b.dispatcher.pending()[0]!.id));
  await running;
  const types = heard.map(({ type }) => type);
  for (const type of ["call.proposed", "approval.opened", "approval.answered", "call.claimed", "call.ended"])
    assert.ok(types.includes(type as never), type);
  assert.deepEqual(
    heard.map(({ pos }) => pos),
    heard.map(({ pos }) => pos).toSorted((left, right) => left - right),
  );
  listening.close();
  const before = heard.length;
  await b.process([call("read", "y", "c2")]);
  assert.equal(heard.length, before);
});

const changed = (revision: string): Draft => ({
  type: "policy.changed",
  v: 1,
  at: "2026-01-01T00:00:00.000Z",
  body: { revision, digest: "" },
});

test("a write that the ledger refuses is a promise that rejects, and the next one is stored", async (t) => {
  const b = await bench(t);
  await assert.rejects(() => b.session.record([proposedDraft("c1"), proposedDraft("c1")], "normal"), { type: "event_invalid" });
  await b.session.record([changed("r1")], "normal");
  assert.equal(b.session.state.policy, "r1");
});

test("a listener's write follows every event it received", async (t) => {
  const b = await bench(t);
  const heard: unknown[] = [];
  let inside: unknown;
  b.session.listen(({ type, body }) => {
    if (type === "policy.changed") heard.push(body.revision);
    inside ??= b.session.record([changed("r3")], "normal");
  });
  await b.session.record([changed("r1"), changed("r2")], "normal");
  await inside;
  assert.deepEqual(heard, ["r1", "r2", "r3"]);
});

test("while the session watches for answers, a write waits for earlier events of others", async (t) => {
  const b = await bench(t);
  const watch = b.session.watch(() => undefined);
  await b.session.record([changed("r1")], "normal");
  watch.close();
  assert.equal(b.session.state.policy, "r1");
});

const passing: readonly (readonly [sentence: string, pass: (draft: Draft) => Draft])[] = [
  ["a copy of each draft", (draft) => ({ ...draft })],
  ["each draft frozen", (draft) => Object.freeze(draft)],
  ["a frozen copy of each draft", (draft) => Object.freeze({ ...draft })],
];

for (const [sentence, pass] of passing) {
  test(`a ledger in front of another may pass on ${sentence}, and finds nothing in it but what a draft is`, async (t) => {
    const keys = new Set<string>();
    const seen = <D extends Draft>(draft: D): D => {
      for (const key of Object.keys(draft)) keys.add(key);
      return pass(draft) as D;
    };
    const wrap = (inner: Ledger): Ledger => ({
      ...inner,
      append: (lease, expected, batch) => inner.append(lease, expected, { ...batch, events: batch.events.map(seen) }),
      claim: (lease, expected, claimed) => inner.claim(lease, expected, seen(claimed)),
    });
    const b = await bench(t, { wrap });
    assert.deepEqual(outcomes(await b.process([call("read", "one")])), ["succeeded"]);
    assert.deepEqual([...keys].sort(), ["at", "body", "type", "v"]);
  });
}

test("the same draft may be written again and again: each time it is another event, at its own place", async (t) => {
  const b = await bench(t);
  const draft = b.session.draft("hook.ran", { event: "notification", name: "n", outcome: "ok", durationMs: 1 } as never);
  await b.session.record([draft, draft], "normal");
  await b.session.record([draft], "normal");
  await b.session.record([draft], "normal");
  await b.session.record([draft, draft], "normal");
  const kept = await b.stored("hook.ran");
  assert.deepEqual(
    kept.map(({ seq, pos }) => [seq, pos]),
    [3, 4, 5, 6, 7, 8].map((at) => [at, at]),
  );
  assert.equal(new Set<object>(kept).size, 6);
});

test("a reader of a session that another process writes sees both chains up to the same place", async () => {
  const ledger = memoryLedger();
  const lease = await ledger.acquire("s_1", HOLDER);
  const events = [createdDraft(), proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1")];
  await ledger.append(lease, 0, { events, durability: "full" });
  let isWritten = false;
  const meanwhile: Ledger = {
    ...ledger,
    read: async function* (from, filter) {
      yield* ledger.read(from, filter);
      if (filter?.naming === undefined || isWritten) return;
      isWritten = true; // an answer, and the call that uses it, after the shared chain was read
      const answered = await ledger.answer([answeredDraft("s_1", "c1")]);
      assert.ok("won" in answered);
      await ledger.claim(lease, 4, claimedDraft("c1", { answer: { pos: answered.won[0]?.pos ?? 0 } }));
    },
  };
  assert.equal((await readSessionState(meanwhile, "s_1")).calls.get("c1")?.state, "waiting");
  assert.equal((await readSessionState(meanwhile, "s_1")).calls.get("c1")?.state, "claimed");
});
