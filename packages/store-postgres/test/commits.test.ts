import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { type Lease, type Ledger, LedgerError } from "@assent/core";
import { answeredDraft, createdDraft, draftOf, judgedDraft, openedDraft, proposedDraft } from "@assent/core/testing";
import { makeConnect } from "../src/connect/connection.ts";
import { parseStoreUrl } from "../src/connect/store-url.ts";
import { verifyPostgres } from "../src/index.ts";
import { type ElementType, encodeArray } from "../src/rows/binary-array.ts";
import { freshSchema, openWatched, scratch, thisHolder } from "./made-ledger.ts";
import { startPostgres } from "./postgres-server.ts";

const server = await startPostgres(18);
const SESSION = "s_aaaaaaaaaaaaaaaaaaaa";
const ASKED = [proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1")];

type Opened = { readonly first: Ledger; readonly second: Ledger; readonly sent: string[]; readonly verify: () => Promise<unknown> };

/** Two processes on one store. What the first one sends is kept. */
async function openBoth(t: TestContext): Promise<Opened> {
  const { directory, remove } = scratch();
  const url = server.url(freshSchema());
  const sent: string[] = [];
  const first = await openWatched(url, directory, (text) => void sent.push(text));
  const second = await openWatched(url, directory);
  t.after(async () => {
    await first.close();
    await second.close();
    remove();
  });
  return { first, second, sent, verify: async () => (await verifyPostgres({ url, directory })).findings };
}

async function begin(ledger: Ledger): Promise<Lease> {
  const holder = thisHolder();
  const lease = await ledger.acquire(SESSION, holder);
  await ledger.append(lease, 0, { events: [createdDraft(), draftOf("session.opened", { ...holder, recovered: [] })], durability: "full" });
  await ledger.append(lease, 2, { events: ASKED, durability: "full" });
  return lease;
}

function noise(ledger: Ledger, lease: Lease, expected: number): Promise<unknown> {
  const body = { event: "post_tool_use", hook: "h", outcome: "allow", durationMs: 0 } as const;
  return ledger.append(lease, expected, { events: [draftOf("hook.ran", body)], durability: "full" });
}

test("of operations that are committed together, one that the server refuses fails alone", async (t) => {
  const { first, verify } = await openBoth(t);
  const lease = await begin(first);
  const work = [
    noise(first, lease, 5),
    first.acquire("s_\0", thisHolder()),
    first.append(lease, 6, { events: [proposedDraft("c\0")], durability: "full" }),
    noise(first, lease, 6),
    noise(first, lease, 7),
  ];
  assert.deepEqual(
    (await Promise.allSettled(work)).map((one) => (one.status === "rejected" ? one.reason.type : "stored")),
    ["stored", "store_io", "store_io", "stored", "stored"],
  );
  assert.deepEqual(await verify(), []);
});

describe("a process that writes alone", () => {
  test("commits with one statement, in one round trip", async (t) => {
    const { first, sent, verify } = await openBoth(t);
    const lease = await begin(first);
    sent.length = 0;
    for (let seq = 5; seq < 8; seq += 1) await noise(first, lease, seq);
    await Promise.all([8, 9, 10].map((seq) => noise(first, lease, seq)));
    assert.deepEqual(
      sent.map((text) => text.slice(0, 10)),
      ["with moved", "with moved", "with moved", "with moved"],
    );
    assert.deepEqual(await verify(), []);
  });

  test("decides again once another process has written: the earlier answer wins", async (t) => {
    const { first, second, verify } = await openBoth(t);
    const lease = await begin(first);
    await noise(first, lease, 5);
    assert.ok("won" in (await second.answer([answeredDraft(SESSION, "c1", { outcome: "rejected" })])));
    const [later, appended] = await Promise.all([first.answer([answeredDraft(SESSION, "c1")]), noise(first, lease, 6)]);
    assert.ok("lost" in later && "outcome" in later.lost.body && later.lost.body.outcome === "rejected");
    assert.ok(appended);
    assert.deepEqual(await verify(), []);
  });

  test("does not refuse an operation because of rows that another process has changed", async (t) => {
    const { first, second } = await openBoth(t);
    await begin(first);
    const isMissing = (error: unknown): boolean => error instanceof LedgerError && error.type === "unknown_approval";
    await assert.rejects(first.answer([answeredDraft(SESSION, "c2")]), isMissing);
    const lease = await second.acquire("s_bbbbbbbbbbbbbbbbbbbb", thisHolder());
    const asked = [proposedDraft("c2"), judgedDraft("c2", { verdict: "ask" }), openedDraft("c2")];
    const opened = [createdDraft(), draftOf("session.opened", { ...thisHolder(), recovered: [] })];
    await second.append(lease, 0, { events: [...opened, ...asked], durability: "full" });
    assert.ok("won" in (await first.answer([answeredDraft("s_bbbbbbbbbbbbbbbbbbbb", "c2")])));
  });
});

const ARRAYS: readonly (readonly [ElementType, readonly unknown[]])[] = [
  ["text", ["", "plain", 'quotes " and \\ and {,}', "ünïcødé 🙂", null]],
  ["bigint", [0, 1, -1, 2 ** 53 - 1, null]],
  ["int", [0, 2 ** 31 - 1, -(2 ** 31), null]],
  ["smallint", [0, 1, -1, null]],
  ["bytea", [Buffer.from([0, 1, 255]), Buffer.alloc(0), null]],
];

for (const [type, elements] of ARRAYS) {
  test(`an array of ${type} arrives as it was sent`, async () => {
    const connection = await makeConnect(parseStoreUrl(server.url("public")))();
    const { rows } = await connection.query<{ readonly one: unknown }>(`select * from unnest($1::${type}[]) as one`, [
      encodeArray(type, elements),
    ]);
    await connection.close();
    assert.deepEqual(
      rows.map(({ one }) => one),
      elements,
    );
  });
}
