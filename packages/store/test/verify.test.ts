import assert from "node:assert/strict";
import { chmodSync, cpSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { before, test } from "node:test";
import { callOf, canonicalJson, namedSession } from "@assent/core";
import {
  answeredDraft,
  claimedDraft,
  closedSessionDraft,
  draftOf,
  endedDraft,
  grantedDraft,
  judgedDraft,
  openedDraft,
  proposedDraft,
} from "@assent/core/testing";
import { openLedger } from "../src/open/open-ledger.ts";
import { anchorText, parseAnchor } from "../src/verify/anchor.ts";
import { verifyStore } from "../src/verify/verify.ts";
import { chainHash } from "../src/write/chain.ts";
import { A, B, begin, locksOn, madeLedger, noise, readAll, scratch, tamper } from "./made-store.ts";

/** Two sessions with everything in them: calls that ran, wait, were claimed; grants, values, a snapshot. B is closed, A is not. */
async function fill(directory: string): Promise<void> {
  const ledger = await openLedger({ directory });
  const closed = await begin(ledger, B);
  await closed.append(noise(1), noise(2), closedSessionDraft());
  const writer = await begin(ledger, A);
  await writer.append(
    ...["waits", "yes", "runs"].flatMap((call) => [proposedDraft(call), judgedDraft(call, { verdict: "ask" }), openedDraft(call)]),
  );
  await ledger.answer([answeredDraft(A, "yes"), grantedDraft("g_1", { scope: "session", session: A })]);
  await ledger.answer([grantedDraft("g_2", { uses: 2 })]);
  const yes = await ledger.answer([answeredDraft(A, "runs")]);
  assert.ok("won" in yes);
  await writer.claim(claimedDraft("runs", { answer: { pos: yes.won[0]?.pos ?? 0 } }));
  await writer.append(proposedDraft("done", { raw: "x".repeat(70_000) }), judgedDraft("done"));
  await writer.claim(claimedDraft("done"));
  await writer.append(draftOf("call.started", { call: "done", pid: 41, pgid: 41, processStart: "boot:41" }), endedDraft("done"));
  await ledger.snapshot(A, 5, { calls: [] });
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

test("a store that is whole has no findings, and its heads are told", async (t) => {
  const directory = await filled(t);
  const report = await verifyStore({ directory });
  assert.deepEqual(report.findings, []);
  assert.deepEqual([report.ok, report.sessions], [true, 2]);
  const rows = tamper(directory, (database) => database.prepare("select session, seq, hash from sessions order by session").all());
  const byName = [...report.heads].sort((one, other) => (one.session < other.session ? -1 : 1));
  assert.deepEqual(
    byName,
    rows.map((row) => ({ ...row })),
  );
  assert.equal(
    report.events,
    tamper(directory, (database) => database.prepare("select count(*) as n from events").get()?.["n"]),
  );
});

test("verify works while a session runs, and writes nothing", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  await writer.append(proposedDraft("c1"), judgedDraft("c1"));
  const head = await ledger.head();
  const { findings } = await verifyStore({ directory: ledger.directory });
  assert.deepEqual(findings, []);
  assert.equal(await ledger.head(), head);
  assert.ok("won" in (await writer.claim(claimedDraft("c1"))));
});

type Row = readonly [
  title: string,
  sql: string | ((database: DatabaseSync) => void),
  expected: readonly (readonly [string, string | null, number | null])[],
];

const inA = `where session = '${A}'`;
const inB = `where session = '${B}'`;

const FOUND: readonly Row[] = [
  ["a changed body", `update events set body = replace(body, 'waits', 'waitz') ${inA} and seq = 4`, [["hash_mismatch", A, 4]]],
  ["a removed event", `delete from events ${inA} and seq = 4`, [["gap", A, 4]]],
  ["a removed session", `delete from events ${inB}; delete from sessions ${inB}`, [["missing_session", B, null]]],
  ["a tail cut before a checkpoint", `delete from events ${inA} and seq > 12; update sessions set seq = 12 ${inA}`, [["truncated", A, 13]]],
  [
    "two events that changed places",
    `update events set seq = 100 ${inA} and seq = 6; update events set seq = 6 ${inA} and seq = 7; update events set seq = 7 ${inA} and seq = 100`,
    [["gap", A, 6]],
  ],
  [
    "an event whose epoch was changed",
    "update events set epoch = 0 where session = '_store' and seq = 5",
    [["hash_mismatch", "_store", 5]],
  ],
  [
    "a changed event of the shared chain",
    "update events set body = replace(body, 'Tester', 'Nobody') where type = 'approval.answered'",
    [["hash_mismatch", "_store", null]],
  ],
  ["a list that lost an approval", "delete from approvals where id = 'a_waits'", [["index_mismatch", A, null]]],
  [
    "an approval that the list calls approved",
    `update approvals set row = replace(row, '"state":"open"', '"state":"approved"'), open = 0 where id = 'a_waits'`,
    [["index_mismatch", A, null]],
  ],
  ["an approval hidden from the list", "update approvals set open = 0 where id = 'a_waits'", [["index_mismatch", A, null]]],
  [
    "a grant with more uses",
    `update grants set row = replace(row, '"usesLeft":2', '"usesLeft":9') where id = 'g_2'`,
    [["index_mismatch", null, null]],
  ],
  ["a wrong head in the list of sessions", `update sessions set seq = 99 ${inA}`, [["index_mismatch", A, null]]],
  ["a process that is not listed", "delete from processes where pid = 41", [["index_mismatch", A, 16]]],
  ["a session that is not listed", `delete from sessions ${inB}`, [["index_mismatch", B, null]]],
  [
    "an answer hidden from its session",
    "update events set naming = null where type = 'approval.answered' and call = 'yes'",
    [["index_mismatch", "_store", null]],
  ],
  ["a lost value", "delete from blobs", [["blob_missing", A, null]]],
  ["a changed value", "update blobs set bytes = cast('other' as blob)", [["blob_corrupt", A, null]]],
  ["a snapshot of another chain", "update snapshots set hash = 'f'", [["snapshot_mismatch", A, 5]]],
];

for (const [title, sql, expected] of FOUND) {
  test(`verify finds ${title}`, async (t) => {
    const directory = await filled(t);
    tamper(directory, (database) => (typeof sql === "string" ? database.exec(sql) : sql(database)));
    const report = await verifyStore({ directory });
    const found = report.findings.filter(({ type }) => type !== "index_mismatch" || expected[0]?.[0] === "index_mismatch");
    assert.deepEqual(
      found.map(({ type, session, seq }, at) => [type, session, expected[at]?.[2] === null ? null : seq]),
      expected,
    );
    assert.equal(report.ok, false);
    for (const { message, hint } of report.findings) assert.ok(message.length > 10 && hint.length > 10);
  });
}

test("file modes that let others in are a warning", async (t) => {
  const directory = await filled(t);
  chmodSync(join(directory, "ledger.db"), 0o640);
  const { ok, findings } = await verifyStore({ directory });
  assert.deepEqual([ok, findings.map(({ type, severity }) => [type, severity])], [true, [["permissions", "warning"]]]);
});

test("verify of one session looks at it and the shared chain alone", async (t) => {
  const directory = await filled(t);
  tamper(directory, (database) => database.exec(`update events set body = '{}' ${inB} and seq = 3`));
  assert.deepEqual((await verifyStore({ directory, session: A })).findings, []);
  await assert.rejects(verifyStore({ directory, session: "s_nobody" }), { type: "session_not_found" });
  const report = await verifyStore({ directory, session: B });
  assert.deepEqual(
    report.findings.map(({ type, seq }) => [type, seq]),
    [["hash_mismatch", 3]],
  );
});

test("a tail cut after the last checkpoint, and a chain rewritten whole, are found with an anchor", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  await writer.append(noise(1), noise(2), noise(3));
  const { directory } = ledger;
  const before = await verifyStore({ directory });
  const anchor = parseAnchor(anchorText(before));
  assert.deepEqual((await verifyStore({ directory, anchors: [anchor] })).findings, []);
  tamper(directory, (database) => database.exec(`delete from events ${inA} and seq = 5`));
  const lists = (type: string): boolean => type !== "index_mismatch";
  const types = async (options: object): Promise<unknown> =>
    (await verifyStore({ directory, ...options })).findings.map(({ type }) => type).filter(lists);
  assert.deepEqual(await types({}), []);
  assert.deepEqual(await types({ anchors: [anchor] }), ["truncated"]);
  const other = { store: anchor.store, heads: anchor.heads.map((head) => ({ ...head, seq: 2, hash: "f" })) };
  assert.deepEqual(await types({ anchors: [other] }), ["chain_break", "chain_break"]);
  assert.deepEqual(await types({ anchors: [{ ...anchor, store: "another" }] }), ["chain_break"]);
  assert.throws(() => parseAnchor('{"heads":[]}'), /--export-anchor/);
});

test("in a ledger of 10,000 events each kind of tampering is found, with the first bad sequence", async (t) => {
  const root = await scratch(t);
  const original = join(root, "original");
  const ledger = await openLedger({ directory: original });
  const writer = await begin(ledger);
  for (let at = 0; at < 10; at += 1) await writer.append(...Array.from({ length: 1_000 }, (_, index) => noise(at * 1_000 + index)));
  await ledger.close();
  const kinds: readonly (readonly [string, string, string, number])[] = [
    ["flip", `update events set body = replace(body, 'h4998', 'h4999') ${inA} and seq = 5001`, "hash_mismatch", 5_001],
    ["delete", `delete from events ${inA} and seq = 7000`, "gap", 7_000],
    [
      "swap",
      `update events set seq = -1 ${inA} and seq = 3000; update events set seq = 3000 ${inA} and seq = 3001; update events set seq = 3001 ${inA} and seq = -1`,
      "gap",
      3_000,
    ],
    ["cut", `delete from events ${inA} and seq > 9000`, "truncated", 9_001],
    [
      "copy",
      `insert into events select 20000 + pos, session, seq + 10000, epoch, at, type, v, body, prev, hash, call, naming from events ${inA} and seq between 3 and 5`,
      "chain_break",
      10_003,
    ],
  ];
  for (const [name, sql, type, seq] of kinds) {
    const directory = join(root, name);
    cpSync(original, directory, { recursive: true });
    tamper(directory, (database) => database.exec(sql));
    const found = (await verifyStore({ directory })).findings.filter((one) => one.type !== "index_mismatch" && one.type !== "permissions");
    assert.deepEqual(
      found.map((one) => [one.type, one.session, one.seq]),
      [[type, A, seq]],
      name,
    );
  }
});

test("a rebuild makes the lists again from the events", async (t) => {
  const directory = await filled(t);
  const parsed = (text: unknown): unknown => typeof text === "string" && JSON.parse(text);
  const lists = (database: DatabaseSync): unknown =>
    ["sessions", "approvals", "grants", "processes"].flatMap((table) => {
      const rows = database.prepare(`select * from ${table} order by 1`).all();
      return rows.map(({ row, holder, ...columns }) => ({ ...columns, row: parsed(row), holder: parsed(holder) }));
    });
  const right = tamper(directory, lists);
  tamper(directory, (database) => {
    database.exec(
      "delete from approvals; delete from processes; update sessions set seq = 99; update grants set row = '{}', open = 0; update events set call = null, naming = null",
    );
  });
  assert.equal((await verifyStore({ directory })).ok, false);
  const report = await verifyStore({ directory, rebuild: true });
  assert.deepEqual(report.findings, []);
  assert.deepEqual(tamper(directory, lists), right);
});

type Forged = { readonly session: string; readonly type: string; readonly body: object; readonly epoch?: number };

/** Puts an event at the end of a chain past every rule, but with the right hash. */
function forge(database: DatabaseSync, { session, type, body, epoch }: Forged): void {
  const store = database.prepare("select value from meta where key = 'store'").get()?.["value"] as string;
  const last = database.prepare("select seq, hash, epoch from events where session = ? order by seq desc limit 1").get(session) as {
    seq: number;
    hash: string;
    epoch: number;
  };
  const text = canonicalJson(body);
  const link = {
    store,
    session,
    seq: last.seq + 1,
    epoch: epoch ?? last.epoch,
    at: "2026-01-01T00:00:00.000Z",
    type,
    v: 1,
    body: text,
    prev: last.hash,
  };
  const values = [link.session, link.seq, link.epoch, link.at, type, 1, text, link.prev, chainHash(link)];
  const insert = database.prepare("insert into events select max(pos) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? from events");
  insert.run(...values, callOf({ body }) ?? null, session === "_store" ? (namedSession({ type, body }) ?? null) : null);
}

const FORGED: readonly (readonly [string, Forged, readonly [string, string, number]])[] = [
  ["an event of a lower epoch", { session: A, type: "hook.ran", body: noise().body, epoch: 1 }, ["epoch_regression", A, 18]],
  ["an end of a call that has ended", { session: A, type: "call.ended", body: endedDraft("done").body }, ["illegal_event", A, 18]],
  ["a claim that nobody allowed", { session: A, type: "call.claimed", body: claimedDraft("waits").body }, ["illegal_event", A, 18]],
  [
    "a second answer to one approval",
    { session: "_store", type: "approval.answered", body: answeredDraft(A, "yes", { outcome: "rejected" }).body },
    ["illegal_event", "_store", 13],
  ],
];

for (const [title, forged, expected] of FORGED) {
  test(`verify finds ${title}, though its hash is right, and a repair takes it out`, async (t) => {
    const directory = await filled(t);
    tamper(directory, (database) => forge(database, forged));
    const report = await verifyStore({ directory });
    const found = report.findings.filter(({ type }) => type !== "index_mismatch");
    assert.deepEqual(
      found.map(({ type, session, seq }) => [type, session, seq]),
      [expected],
    );
    const repaired = await verifyStore({ directory, repair: true, startOf: () => undefined });
    assert.deepEqual(repaired.findings, []);
    assert.deepEqual(
      repaired.repaired?.map(({ session }) => session),
      [A],
    );
  });
}

test("an event of a newer program is kept, told and no error", async (t) => {
  const directory = await filled(t);
  tamper(directory, (database) => forge(database, { session: B, type: "x.new", body: {} }));
  const report = await verifyStore({ directory, rebuild: true });
  assert.deepEqual([report.ok, report.findings.map(({ type, seq }) => [type, seq])], [true, [["unknown_type", 6]]]);
  const reader = await madeLedger(t, { directory });
  assert.equal((await readAll(reader, { session: B, seq: 5 }))[0]?.type, "x.new");
});

test("a list that does not match its events is never appended to", async (t) => {
  for (const sql of [`update sessions set seq = 3 ${inB}`, `update sessions set seq = 99 ${inB}`]) {
    const directory = await filled(t);
    await (await openLedger({ directory })).close();
    tamper(directory, (database) => database.exec(sql));
    const ledger = await openLedger({ directory });
    const attempt = begin(ledger, B).then((writer) => writer.append(noise()));
    await assert.rejects(attempt, { type: "store_corrupt", message: /assent verify --rebuild$/ });
    await ledger.close();
    const report = await verifyStore({ directory, rebuild: true });
    assert.deepEqual(report.findings, []);
    const mended = await madeLedger(t, { directory });
    assert.equal((await (await begin(mended, B, true)).append(noise()))[0]?.seq, 6);
  }
});

test("a repair cuts after the last good event, settles what was open, keeps the damaged file and says so", async (t) => {
  const directory = await filled(t);
  tamper(directory, (database) => database.exec(`update events set body = replace(body, 'done', 'dome') ${inA} and seq = 13`));
  const report = await verifyStore({ directory, repair: true, startOf: () => undefined });
  assert.deepEqual(report.repaired, [{ session: A, goodSeq: 12, lostFrom: 13 }]);
  assert.deepEqual(report.findings, []);
  const torn = readdirSync(join(directory, "torn"));
  assert.ok(torn.length > 0);
  for (const name of torn) assert.equal(statSync(join(directory, "torn", name)).mode & 0o777, 0o600);
  const ledger = await madeLedger(t, { directory });
  const events = await readAll(ledger, { session: A, seq: 12 });
  assert.deepEqual(
    events.map(({ type, body }) => [type, body["call"], body["outcome"], body["type"]]),
    [
      ["call.ended", "waits", "cancelled", "store_repaired"],
      ["call.ended", "yes", "cancelled", "store_repaired"],
      ["call.ended", "runs", "unknown", "execution_unknown"],
    ],
  );
  const rows = await ledger.pending("approvals", { all: true });
  assert.deepEqual(
    rows.map(({ id, state, consumed }) => [id, state, consumed]),
    [
      ["a_waits", "cancelled", false],
      ["a_yes", "cancelled", false],
      ["a_runs", "approved", true],
    ],
  );
  const writer = await begin(ledger, A);
  assert.deepEqual([writer.lease.head, writer.lease.unclosed], [15, true]);
  assert.deepEqual((await verifyStore({ directory, repair: true, startOf: () => undefined })).repaired, []);
});

test("a repair keeps the locks that this process has on the store", async (t) => {
  const directory = await filled(t);
  await madeLedger(t, { directory });
  tamper(directory, (database) => database.exec(`update events set body = replace(body, 'done', 'dome') ${inA} and seq = 13`));
  const files = ["ledger.db", "ledger.db-shm"].map((name) => join(directory, name));
  const before = files.map(locksOn);
  for (const locks of before) assert.notEqual(locks.length, 0);
  assert.equal((await verifyStore({ directory, repair: true, startOf: () => undefined })).repaired?.length, 1);
  assert.deepEqual(files.map(locksOn), before);
});

test("a repair that loses the question voids its answer, so that the session folds again", async (t) => {
  const directory = await filled(t);
  tamper(directory, (database) => database.exec(`delete from events ${inA} and seq = 4`));
  const report = await verifyStore({ directory, repair: true, startOf: () => undefined });
  assert.deepEqual(report.repaired, [{ session: A, goodSeq: 3, lostFrom: 4 }]);
  assert.deepEqual(report.findings, []);
  const ledger = await madeLedger(t, { directory });
  const { emptySession, fold, parseEvent } = await import("@assent/core");
  const state = emptySession();
  for (const stored of await readAll(ledger, { pos: 0 }, { session: A, naming: A })) {
    const event = parseEvent(stored);
    if (event) fold(state, event);
  }
  assert.equal(state.calls.size, 0);
  assert.equal((await readAll(ledger, { pos: 0 }, { types: ["approval.answered"] })).length, 2);
});

const REPAIRED: readonly (readonly [string, string, readonly object[]])[] = [
  ["a session that is gone", `delete from events ${inB}; delete from sessions ${inB}`, [{ session: B, goodSeq: 0, lostFrom: 1 }]],
  ["a tail that is gone", `delete from events ${inB} and seq > 3`, [{ session: B, goodSeq: 3, lostFrom: 4 }]],
  [
    "a shared chain that is damaged, with what depends on it",
    "update events set body = '{}' where session = '_store' and type = 'approval.answered' and call = 'runs'",
    [],
  ],
];

for (const [title, sql, expected] of REPAIRED) {
  test(`a repair accepts the loss of ${title}`, async (t) => {
    const directory = await filled(t);
    tamper(directory, (database) => database.exec(sql));
    assert.equal((await verifyStore({ directory })).ok, false);
    const report = await verifyStore({ directory, repair: true, startOf: () => undefined });
    assert.deepEqual(report.findings, []);
    if (expected.length > 0) assert.deepEqual(report.repaired, expected);
    else assert.deepEqual(report.repaired?.map(({ session }) => session).sort(), ["_store", A]);
    const ledger = await madeLedger(t, { directory });
    const writer = await begin(ledger, "s_cccccccccccccccccccc");
    const epochs = await readAll(ledger, { session: A, seq: 0 });
    assert.ok(epochs.every(({ epoch }) => epoch < writer.lease.epoch));
    await ledger.close();
    assert.deepEqual((await verifyStore({ directory })).findings, []);
  });
}

test("a repair gives no position twice: a cursor on what was cut misses nothing", async (t) => {
  const directory = await filled(t);
  const head = tamper(directory, (database) => {
    forge(database, { session: A, type: "call.ended", body: endedDraft("done").body });
    return database.prepare("select max(pos) as pos from events").get()?.["pos"];
  });
  await verifyStore({ directory, repair: true, startOf: () => undefined });
  const ledger = await madeLedger(t, { directory });
  const [first] = await readAll(ledger, { pos: Number(head) });
  assert.deepEqual([first?.type, first?.pos], ["store.repaired", Number(head) + 1]);
});

test("a repair does not touch a session whose writer lives", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  await writer.append(noise(1), noise(2));
  tamper(ledger.directory, (database) => database.exec(`delete from events ${inA} and seq = 3`));
  await assert.rejects(verifyStore({ directory: ledger.directory, repair: true }), { type: "session_in_use" });
  assert.equal(
    tamper(ledger.directory, (database) => database.prepare(`select count(*) as n from events ${inA}`).get()?.["n"]),
    3,
  );
});

test("there is nothing to verify where there is no ledger", async (t) => {
  await assert.rejects(verifyStore({ directory: join(await scratch(t), "none") }), { code: "ENOENT" });
});
