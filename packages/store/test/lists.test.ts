import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { Draft, Ledger, SessionRow } from "@assent/core";
import {
  answeredDraft,
  applyingDraft,
  askedDraft,
  claimedDraft,
  closedDraft,
  draftOf,
  endedDraft,
  judgedDraft,
  openedDraft,
  proposedDraft,
  repliedDraft,
  requestedDraft,
  stagedDraft,
} from "@assent/core/testing";
import fc from "fast-check";
import { IS_RARE_TYPE } from "../src/database/schema.ts";
import { openLedger } from "../src/open/open-ledger.ts";
import { verifyStore } from "../src/verify/verify.ts";
import { A, B, begin, madeLedger, noise, readAll, scratch, tamper } from "./made-store.ts";

const countsOf = ({ calls, turns, openApprovals, unknownOutcomes, updatedAt }: SessionRow): readonly unknown[] => [
  calls,
  turns,
  openApprovals,
  unknownOutcomes,
  updatedAt,
];

test("a session's row may lag behind its events on disk, and is never listed so", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  const later = "2026-02-02T00:00:00.000Z";
  for (let at = 0; at < 5; at += 1) await writer.append({ ...proposedDraft(`c${at}`, { turn: at }), at: later });
  const stored = tamper(ledger.directory, (database) => database.prepare("select seq from sessions where session = ?").get(A)?.["seq"]);
  assert.ok(Number(stored) < 7, `${stored}`);
  const other = await openLedger({ directory: ledger.directory });
  for (const handle of [ledger, other]) {
    const [row] = await handle.pending("sessions");
    assert.deepEqual(row && countsOf(row), [5, 4, 0, 0, later]);
  }
  await other.close();
  assert.deepEqual((await verifyStore({ directory: ledger.directory })).findings, []);
});

test("a row that lags is brought up to date by whoever answers", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  await writer.append(proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1"));
  await writer.append(proposedDraft("c2"), judgedDraft("c2"));
  const other = await openLedger({ directory: ledger.directory });
  await other.answer([answeredDraft(A, "c1", { outcome: "rejected" })]);
  await other.close();
  await writer.append(endedDraft("c1", { outcome: "rejected" }), proposedDraft("c3"));
  const [row] = await ledger.pending("sessions");
  assert.deepEqual(row && countsOf(row).slice(0, 3), [3, 1, 0]);
  assert.deepEqual((await verifyStore({ directory: ledger.directory })).findings, []);
});

/** What two handles do to two sessions; the answers are given by the second one. Many of the steps are refused: that must leave no trace. */
const STEPS: Readonly<Record<string, (call: string, session: string) => Draft>> = {
  propose: (call) => proposedDraft(call),
  allow: (call) => judgedDraft(call),
  judge: (call) => judgedDraft(call, { verdict: "ask" }),
  open: (call, session) => openedDraft(call, { approval: `a_${session}_${call}` }),
  cancel: (call) => endedDraft(call, { outcome: "cancelled" }),
  end: (call) => endedDraft(call),
  fail: (call) => endedDraft(call, { outcome: "unknown", type: "execution_unknown" }),
  stage: (call, session) => stagedDraft(proposalOf(call, session)),
  apply: (call, session) => applyingDraft(proposalOf(call, session)),
  applied: (call, session) => draftOf("proposal.applied", { proposal: proposalOf(call, session), superseded: [] }),
  failed: (call, session) => draftOf("proposal.apply_failed", { proposal: proposalOf(call, session), type: "t", message: "m" }),
  ask: (call, session) => askedDraft(`q_${session}_${call}`, call),
  policy: () => ({ type: "policy.changed", v: 1, at: "2026-01-01T00:00:00.000Z", body: { revision: "p", digest: "d" } }),
  noise: () => noise(),
};

function proposalOf(call: string, session: string): string {
  return `p_${session}_${call}`;
}

const step = fc.record({
  kind: fc.constantFrom(...Object.keys(STEPS), "claim", "claimAnswer", "yes", "no", "close", "wish", "reply"),
  call: fc.constantFrom("c1", "c2", "c3"),
  session: fc.constantFrom(A, B),
  together: fc.boolean(),
});

type Step = { readonly kind: string; readonly call: string; readonly session: string; readonly together: boolean };

test("whatever two handles do, the lists are what the events make of them", async (t) => {
  const root = await scratch(t);
  let run = 0;
  const property = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
    run += 1;
    const directory = `${root}/${run}`;
    const ledger = await openLedger({ directory });
    const other = await openLedger({ directory });
    const writers = new Map([[A, await begin(ledger, A)] as const, [B, await begin(ledger, B)] as const]);
    const waiting: Promise<unknown>[] = [];
    for (const one of steps) {
      waiting.push(
        take(one, writers, { ledger, other }).catch((error: unknown) =>
          assert.ok(error instanceof Error && "type" in error, String(error)),
        ),
      );
      if (!one.together) await Promise.all(waiting.splice(0));
    }
    await Promise.all(waiting);
    const { findings } = await verifyStore({ directory });
    assert.deepEqual(findings, []);
    await Promise.all([ledger.close(), other.close()]);
  });
  await fc.assert(property, { numRuns: 12 });
});

type Handles = { readonly ledger: Ledger; readonly other: Ledger };

async function take(
  { kind, call, session }: Step,
  writers: ReadonlyMap<string, Awaited<ReturnType<typeof begin>>>,
  { ledger, other }: Handles,
): Promise<unknown> {
  const writer = writers.get(session);
  assert.ok(writer);
  const approval = `a_${session}_${call}`;
  switch (kind) {
    case "claim":
      return writer.claim(claimedDraft(call, { durability: "normal" }));
    case "claimAnswer": {
      const answers = [];
      for await (const event of ledger.read({ pos: 0 }, { naming: session, call, types: ["approval.answered"] })) answers.push(event);
      return writer.claim(claimedDraft(call, { answer: { pos: answers.at(-1)?.pos ?? 1 }, durability: "normal" }));
    }
    case "yes":
    case "no":
      return other.answer([answeredDraft(session, call, { approval, outcome: kind === "yes" ? "approved" : "rejected" })]);
    case "wish":
      return other.answer([requestedDraft(session, proposalOf(call, session))]);
    case "reply":
      return other.answer([repliedDraft(session, `q_${session}_${call}`)]);
    case "close":
      return other.answer([closedDraft(session, call, { approval })]);
    default: {
      const draft = STEPS[kind];
      assert.ok(draft);
      return writer.append(draft(call, session));
    }
  }
}

test("events of a type that not every call writes are found by index, however many others there are", async (t) => {
  let rows = 0;
  const ledger = await madeLedger(t, {
    openDatabase: (file, options) => {
      const database = new DatabaseSync(file, options);
      return {
        exec: (sql) => database.exec(sql),
        close: () => database.close(),
        get isTransaction() {
          return database.isTransaction;
        },
        prepare: (sql) => {
          const statement = database.prepare(sql);
          const iterate = statement.iterate.bind(statement);
          statement.iterate = function* (...values: Parameters<typeof iterate>) {
            for (const row of iterate(...values)) {
              rows += 1;
              yield row;
            }
          } as typeof statement.iterate;
          return statement;
        },
      };
    },
  });
  const writer = await begin(ledger);
  for (let at = 0; at < 4; at += 1) {
    await writer.append(...Array.from({ length: 500 }, (_, index) => noise(index)));
    await writer.append(proposedDraft(`c${at}`), judgedDraft(`c${at}`, { verdict: "ask" }), openedDraft(`c${at}`), stagedDraft(`p_${at}`));
  }
  rows = 0;
  const found = await readAll(ledger, { pos: 0 }, { types: ["approval.opened", "proposal.staged"] });
  assert.deepEqual([found.length, rows], [8, 8]);
  assert.deepEqual(
    found.map(({ pos }) => pos),
    found.map(({ pos }) => pos).sort((one, other) => one - other),
  );
  const later = await readAll(ledger, { pos: found[3]?.pos ?? 0 }, { types: ["proposal.staged"] });
  assert.deepEqual([later.length, rows], [2, 10]);
  const calls = await readAll(ledger, { pos: 0 }, { types: ["call.judged", "proposal.staged"] });
  assert.equal(calls.length, 8);
  const plan = tamper(ledger.directory, (database) =>
    database
      .prepare(`explain query plan select * from events where type = ? and pos > ? and ${IS_RARE_TYPE} order by pos limit 512`)
      .all("x", 0),
  );
  assert.match(String(plan[0]?.["detail"]), /^SEARCH events USING INDEX events_rare_type \(type=\? AND rowid>\?\)$/);
  assert.equal(plan.length, 1);
});

test("what is looked up by session or call does not read all events of a type instead", async (t) => {
  const prepared = new Set<string>();
  const ledger = await madeLedger(t, {
    openDatabase: (file, options) => {
      const database = new DatabaseSync(file, options);
      const prepare = database.prepare.bind(database);
      database.prepare = (sql) => {
        prepared.add(sql);
        return prepare(sql);
      };
      return database;
    },
  });
  await (await begin(ledger)).append(proposedDraft("c1"), judgedDraft("c1"));
  const lookups = [...prepared].filter(
    (sql) => /^\s*select/.test(sql) && /\b(call|seq|naming) (=|>=?) \?/.test(sql) && /from events/.test(sql),
  );
  assert.ok(lookups.some((sql) => sql.includes("call = ?")));
  const plans = tamper(ledger.directory, (database) =>
    lookups.map((sql) => [sql, database.prepare(`explain query plan ${sql}`).all()] as const),
  );
  assert.deepEqual(
    plans.filter(([, plan]) => JSON.stringify(plan).includes("events_rare_type")),
    [],
  );
});

test("of a call that asks nobody only the proposal is indexed, and its other events are found all the same", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  await writer.append(proposedDraft("allowed"), proposedDraft("between"), judgedDraft("allowed"), judgedDraft("between"));
  await writer.claim(claimedDraft("allowed"));
  await writer.append(proposedDraft("later"), judgedDraft("later"), endedDraft("allowed"));
  await writer.append(judgedDraft("later", { verdict: "ask" }), openedDraft("later"), noise(), judgedDraft("later"));
  await writer.append(endedDraft("later", { outcome: "cancelled" }));
  const all = await readAll(ledger, { session: A, seq: 0 });
  const indexed = tamper(ledger.directory, (database) => database.prepare("select seq, call from events where call is not null").all());
  for (const [call, types] of [
    ["allowed", ["call.proposed"]],
    ["between", ["call.proposed"]],
    ["later", ["call.proposed", "call.judged", "approval.opened", "call.judged", "call.ended"]],
  ] as const) {
    const sequences = indexed.filter((row) => row["call"] === call).map((row) => row["seq"]);
    assert.deepEqual(
      all.filter(({ seq }) => sequences.includes(seq)).map(({ type }) => type),
      types,
    );
    assert.deepEqual(
      await readAll(ledger, { session: A, seq: 0 }, { session: A, call }),
      all.filter(({ body }) => body["call"] === call),
    );
  }
  const other = await madeLedger(t, { directory: ledger.directory });
  const next = await begin(other, A, true);
  for (const call of ["allowed", "later"]) await assert.rejects(next.append(endedDraft(call)), { type: "event_invalid" });
  await next.append(endedDraft("between", { outcome: "cancelled" }));
  assert.deepEqual((await verifyStore({ directory: ledger.directory })).findings, []);
});
