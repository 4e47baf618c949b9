import assert from "node:assert/strict";
import { chmodSync, cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { before, test } from "node:test";
import { type Draft, emptySession, fold, parseEvent } from "@assent/core";
import {
  applyingDraft,
  askedDraft,
  claimedDraft,
  closedSessionDraft,
  draftOf,
  endedDraft,
  judgedDraft,
  proposedDraft,
  repliedDraft,
  requestedDraft,
  stagedDraft,
} from "@assent/core/testing";
import { openLedger } from "../src/open/open-ledger.ts";
import { pruneStore } from "../src/prune/prune.ts";
import { verifyStore } from "../src/verify/verify.ts";
import { sha256 } from "../src/write/chain.ts";
import { A, B, begin, madeLedger, noise, readAll, scratch, tamper, type Writer } from "./made-store.ts";

const DAY = 86_400_000;
const LATER = { now: () => Date.parse("2026-03-01T00:00:00.000Z") };
const ONE = Buffer.from("one\n");
const TWO = Buffer.alloc(100_000, "two");

const discarded = (proposal: string): Draft =>
  draftOf("proposal.discarded", { proposal, resolution: { action: "discard", by: "model", reason: "", at: "" } });

function staging(proposal: string, ...contents: readonly Uint8Array[]): Draft<"proposal.staged"> {
  return stagedDraft(proposal, { contents: contents.map((bytes) => sha256(bytes)) });
}

async function asking(writer: Writer, call: string, question: string): Promise<void> {
  await writer.append(proposedDraft(call), judgedDraft(call));
  await writer.claim(claimedDraft(call));
  await writer.append(askedDraft(question, call));
}

/** Session A: p_1 staged with two contents (3), p_2 with a wish (4), q_1 open (5-8), q_2 answered (9-12). B: p_3 with one content, discarded, closed. */
async function fill(directory: string): Promise<void> {
  const ledger = await openLedger({ directory });
  const closed = await begin(ledger, B);
  await closed.appendWith([ONE], staging("p_3", ONE), discarded("p_3"), closedSessionDraft());
  const writer = await begin(ledger, A);
  await writer.appendWith([TWO], staging("p_1", ONE, TWO));
  await writer.append(stagedDraft("p_2"));
  await ledger.answer([requestedDraft(A, "p_2")]);
  await asking(writer, "c1", "q_1");
  await asking(writer, "c2", "q_2");
  await ledger.answer([repliedDraft(A, "q_2")]);
  await ledger.close();
}

let template = "";
before(async (t) => {
  template = join(await scratch(t as never), "template");
  await fill(template);
});

async function filled(t: Parameters<typeof scratch>[0]): Promise<string> {
  const directory = join(await scratch(t), "state");
  cpSync(template, directory, { recursive: true });
  rmSync(join(directory, "marks"), { recursive: true }); // what the tests change here is found by the rows alone
  chmodSync(directory, 0o700);
  return directory;
}

async function states(directory: string): Promise<unknown> {
  const ledger = await openLedger({ directory });
  const rows = [...(await ledger.pending("proposals", { all: true })), ...(await ledger.pending("questions", { all: true }))];
  await ledger.close();
  return Object.fromEntries(rows.map(({ id, state }) => [id, state]));
}

function blobCount(directory: string): unknown {
  return tamper(directory, (database) => database.prepare("select count(*) as n from blobs").get()?.["n"]);
}

const WHOLE = { p_3: "discarded", p_1: "staged", p_2: "staged", q_1: "open", q_2: "answered" };

test("a store with proposals, questions and contents is whole, and each session by itself", async (t) => {
  const directory = await filled(t);
  assert.deepEqual(await states(directory), WHOLE);
  for (const session of [undefined, A, B])
    assert.deepEqual((await verifyStore({ directory, ...(session && { session }) })).findings, [], session ?? "all");
});

test("a content that two sessions name is kept once", async (t) => {
  assert.equal(blobCount(await filled(t)), 2);
});

const SHA = { one: sha256(ONE), two: sha256(TWO) };
const CHANGED = 'set row = replace(row, \'"state":"answered"\', \'"state":"open"\')';

const FOUND: readonly (readonly [title: string, sql: string, expected: readonly (string | number | null)[]])[] = [
  ["a content that is gone", `delete from blobs where sha = '${SHA.two}'`, ["blob_missing", A, 3]],
  ["a content that was damaged", `update blobs set bytes = cast('x' as blob) where sha = '${SHA.two}'`, ["blob_corrupt", A, 3]],
  ["a content without its use", `delete from blob_uses where sha = '${SHA.two}'`, ["index_mismatch", A, 3]],
  ["a proposal that the list has lost", "delete from proposals where id = 'p_1'", ["index_mismatch", A, null]],
  ["a proposal hidden from the list", "update proposals set open = 0 where id = 'p_1'", ["index_mismatch", A, null]],
  [
    "a wish that the list has lost",
    "update proposals set row = json_set(row, '$.requested', json('null')) where id = 'p_2'",
    ["index_mismatch", A, null],
  ],
  ["a question that the list has lost", "delete from questions where id = 'q_1'", ["index_mismatch", A, null]],
  ["a question that the list calls open", `update questions ${CHANGED}, open = 1 where id = 'q_2'`, ["index_mismatch", A, null]],
  [
    "a proposal that no event staged",
    "insert into proposals select 'p_9', first, latest, session, tool, open, row from proposals where id = 'p_1'",
    ["index_mismatch", A, null],
  ],
];
for (const [title, sql, expected] of FOUND) {
  test(`verify finds ${title}`, async (t) => {
    const directory = await filled(t);
    tamper(directory, (database) => database.exec(sql));
    const { ok, findings } = await verifyStore({ directory });
    assert.equal(ok, false);
    assert.deepEqual(
      findings.map(({ type, session, seq }) => [type, session, seq]),
      [expected],
    );
  });
}

test("a rebuild makes the lists of proposals and questions again, and lists every content for those who need it", async (t) => {
  const directory = await filled(t);
  const lists = (database: DatabaseSync): unknown =>
    ["proposals", "questions", "blob_uses"].map((table) =>
      database
        .prepare(`select * from ${table} order by 1, 2`)
        .all()
        .map(({ row, ...columns }) => ({ ...columns, row: typeof row === "string" && JSON.parse(row) })),
    );
  const right = tamper(directory, lists);
  tamper(directory, (database) =>
    database.exec("delete from proposals where id <> 'p_2'; update proposals set row = '{}'; delete from questions; delete from blob_uses"),
  );
  assert.equal((await verifyStore({ directory })).ok, false);
  assert.deepEqual((await verifyStore({ directory, rebuild: true })).findings, []);
  assert.deepEqual(tamper(directory, lists), right);
});

test("a damaged content is never given out, and mended when it is given again", async (t) => {
  const ledger = await madeLedger(t, { directory: await filled(t) });
  tamper(ledger.directory, (database) => database.exec("update blobs set bytes = cast('x' as blob)"));
  await assert.rejects(ledger.blob(SHA.two), { type: "blob_corrupt" });
  const writer = await begin(ledger, A, true);
  await writer.appendWith([TWO], staging("p_4", TWO));
  assert.deepEqual(Buffer.from(await ledger.blob(SHA.two)), TWO);
  await assert.rejects(ledger.blob(SHA.one), { type: "blob_corrupt" });
});

test("a content that is named and lost cannot be lent", async (t) => {
  const ledger = await madeLedger(t, { directory: await filled(t) });
  tamper(ledger.directory, (database) => database.exec(`delete from blobs where sha = '${SHA.two}'`));
  const writer = await begin(ledger, A, true);
  await assert.rejects(writer.append(staging("p_4", TWO)), { type: "blob_missing" });
  await assert.rejects(ledger.blob(SHA.two), { type: "blob_missing" });
});

test("a question is cancelled with its call by whoever ends it, though another process asked", async (t) => {
  const directory = await filled(t);
  const ledger = await madeLedger(t, { directory });
  const writer = await begin(ledger, A, true);
  await writer.append(endedDraft("c1", { outcome: "cancelled" }), endedDraft("c2"));
  assert.deepEqual(
    (await ledger.pending("questions", { all: true })).map(({ state }) => state),
    ["cancelled", "answered"],
  );
  assert.deepEqual((await verifyStore({ directory })).findings, []);
});

test("a repair that cuts a proposal and a question voids the wish and the answer, so that the session folds again", async (t) => {
  const directory = await filled(t);
  tamper(directory, (database) => database.exec(`delete from events where session = '${A}' and seq = 4`));
  const report = await verifyStore({ directory, repair: true, startOf: () => undefined });
  assert.deepEqual(report.repaired, [{ session: A, goodSeq: 3, lostFrom: 4 }]);
  assert.deepEqual(report.findings, []);
  assert.deepEqual(await states(directory), { p_3: "discarded", p_1: "staged" });
  const ledger = await madeLedger(t, { directory });
  const state = emptySession();
  for (const stored of await readAll(ledger, { pos: 0 }, { session: A, naming: A })) {
    const event = parseEvent(stored);
    if (event) fold(state, event);
  }
  assert.deepEqual([[...state.proposals.keys()], state.questions.size], [["p_1"], 0]);
  assert.equal((await readAll(ledger, { pos: 0 }, { types: ["proposal.requested", "question.answered"] })).length, 2);
  await assert.rejects(ledger.answer([requestedDraft(A, "p_2")]), { type: "proposal_not_found" });
  assert.deepEqual((await verifyStore({ directory, rebuild: true })).findings, []);
});

test("a repair that ends a call cancels the question it asked", async (t) => {
  const directory = await filled(t);
  tamper(directory, (database) => database.exec(`delete from events where session = '${A}' and seq = 10`));
  assert.deepEqual((await verifyStore({ directory, repair: true, startOf: () => undefined })).findings, []);
  assert.deepEqual(await states(directory), { p_3: "discarded", p_1: "staged", p_2: "staged", q_1: "cancelled" });
});

test("pruning a session takes the contents that no other names, and its rows", async (t) => {
  const directory = await filled(t);
  const report = await pruneStore({ directory, olderThan: DAY, clock: LATER });
  assert.equal(report.sessions, 1);
  assert.equal(blobCount(directory), 2, "ONE is still named by the other session");
  assert.deepEqual(await states(directory), { p_1: "staged", p_2: "staged", q_1: "open", q_2: "answered" });
  const ledger = await openLedger({ directory });
  const writer = await begin(ledger, A, true);
  await writer.append(discarded("p_1"), discarded("p_2"), endedDraft("c1"), endedDraft("c2"), closedSessionDraft());
  await ledger.close();
  assert.ok((await pruneStore({ directory, olderThan: DAY, clock: LATER })).bytes > TWO.length + ONE.length);
  assert.equal(blobCount(directory), 0);
  assert.deepEqual(await states(directory), {});
  assert.deepEqual((await verifyStore({ directory, rebuild: true })).findings, []);
});

test("a session whose proposal or question somebody may still settle is not pruned", async (t) => {
  const ledger = await madeLedger(t);
  const { directory } = ledger;
  const one = await begin(ledger, A);
  await one.append(stagedDraft("p_1"), closedSessionDraft());
  const two = await begin(ledger, B);
  await asking(two, "c1", "q_1");
  await two.append(closedSessionDraft());
  assert.deepEqual(await pruneStore({ directory, olderThan: DAY, clock: LATER }), {
    sessions: 0,
    bytes: 0,
    kept: { fork: 0, task: 0, person: 2, unended: 0 },
  });
  const again = await begin(ledger, A);
  await again.append(discarded("p_1"), closedSessionDraft());
  assert.equal((await pruneStore({ directory, olderThan: DAY, clock: LATER })).sessions, 1);
});

/** As large as a proposal may be: 10,000 files, each changed. */
function largest(): { readonly draft: Draft<"proposal.staged">; readonly blobs: readonly Uint8Array[] } {
  const blobs = Array.from({ length: 20_000 }, (_, at) => Buffer.from(`content ${at}`));
  const contents = blobs.map((bytes) => sha256(bytes));
  const effects = Array.from({ length: 10_000 }, (_, at) => ({
    ...{ path: `/workspace/packages/some/where/file-${at}.ts`, realPath: `/workspace/packages/some/where/file-${at}.ts` },
    ...{ op: "modify", before: `sha256:${contents[2 * at]}`, after: `sha256:${contents[2 * at + 1]}`, mode: 0o644 },
  }));
  return { blobs, draft: stagedDraft("p_large", { files: 10_000, contents, manifest: { blocks: ["- a\n+ b\n"], effects } }) };
}

test("the largest proposal is stored, read, verified and pruned whole", async (t) => {
  const ledger = await madeLedger(t);
  const { directory } = ledger;
  const { draft, blobs } = largest();
  const writer = await begin(ledger, A);
  const [event] = await writer.appendWith(blobs, draft);
  assert.ok(JSON.stringify(event?.body).length < 2_000, "manifest and list of contents are values beside the event");
  assert.deepEqual(await ledger.resolve((event?.body ?? {}) as never), draft.body);
  const last = blobs.at(-1) ?? assert.fail();
  assert.deepEqual(Buffer.from(await ledger.blob(sha256(last))), last);
  assert.equal((await ledger.pending("proposals"))[0]?.files, 10_000);
  assert.deepEqual((await verifyStore({ directory })).findings, []);

  tamper(directory, (database) => database.prepare("delete from blobs where sha = ?").run(sha256(last)));
  const missed = (await verifyStore({ directory })).findings;
  assert.deepEqual(
    missed.map(({ type, session, seq }) => [type, session, seq]),
    [["blob_missing", A, 3]],
  );
  await writer.append(discarded("p_large"), closedSessionDraft());
  await pruneStore({ directory, olderThan: DAY, clock: LATER });
  assert.equal(blobCount(directory), 0);
});

test("a list of contents that was damaged is found by itself", async (t) => {
  const ledger = await madeLedger(t);
  const { draft, blobs } = largest();
  const writer = await begin(ledger, A);
  const [event] = await writer.appendWith(blobs, draft);
  assert.ok(event);
  const list = (event.body as unknown as { readonly contents: { readonly $blob: string } }).contents.$blob;
  tamper(ledger.directory, (database) => database.prepare("update blobs set bytes = cast('[]' as blob) where sha = ?").run(list));
  assert.deepEqual(
    (await verifyStore({ directory: ledger.directory })).findings.map(({ type, session, seq }) => [type, session, seq]),
    [["blob_corrupt", A, 3]],
  );
});

test("more files than an event holds by name leave the row short, and the event whole", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger, A);
  const files = Array.from({ length: 10_000 }, (_, at) => ({ path: `/workspace/${"deep/".repeat(30)}${at}`, at: "other" as const }));
  const [, , unknown] = await writer.append(
    stagedDraft("p_1"),
    applyingDraft("p_1"),
    draftOf("proposal.unknown", { proposal: "p_1", message: "half", files }),
  );
  const [row] = await ledger.pending("proposals", { all: true });
  assert.deepEqual([row?.state, row?.changed], ["unknown", []]);
  assert.deepEqual((await ledger.resolve((unknown?.body ?? {}) as never))["files"], files);
  await writer.append(noise());
});
