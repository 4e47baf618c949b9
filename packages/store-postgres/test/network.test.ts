import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { type Draft, type EventFilter, type Lease, type Ledger, LedgerError, SHARED, type StoredEvent } from "@assent/core";
import { answeredDraft, createdDraft, draftOf, judgedDraft, openedDraft, proposedDraft } from "@assent/core/testing";
import type { StoreWarning } from "@assent/store";
import { verifyPostgres } from "../src/index.ts";
import { openPostgresLedger } from "../src/open/open-ledger.ts";
import { type CutMoment, startProxy } from "./cutting-proxy.ts";
import { freshSchema, scratch, thisHolder } from "./made-ledger.ts";
import { startPostgres } from "./postgres-server.ts";

const server = await startPostgres(18);
const SESSION = "s_aaaaaaaaaaaaaaaaaaaa";

function noise(name: string): Draft<"hook.ran"> {
  return draftOf("hook.ran", { event: "post_tool_use", hook: name, outcome: "allow", durationMs: 0 });
}

async function begin(ledger: Ledger, session = SESSION): Promise<Lease> {
  const holder = thisHolder();
  const lease = await ledger.acquire(session, holder);
  await ledger.append(lease, 0, { events: [createdDraft(), draftOf("session.opened", { ...holder, recovered: [] })], durability: "full" });
  return lease;
}

async function readHooks(ledger: Ledger): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { body } of ledger.read({ pos: 0 }, { session: SESSION, types: ["hook.ran"] })) names.push(String(body["hook"]));
  return names;
}

type OpenedLedger = { readonly ledger: Ledger; readonly url: string; readonly directory: string; readonly warnings: StoreWarning[] };

async function openThrough(t: TestContext, socket: string, waitMs?: number): Promise<OpenedLedger> {
  const { directory, remove } = scratch();
  const url = server.url(freshSchema()).replace(encodeURIComponent(server.socket), encodeURIComponent(socket));
  const warnings: StoreWarning[] = [];
  const ledger = await openPostgresLedger({
    url,
    directory,
    onWarning: (one) => void warnings.push(one),
    ...(waitMs !== undefined && { waitMs }),
  });
  t.after(async () => {
    await ledger.close();
    remove();
  });
  return { ledger, url, directory, warnings };
}

describe("a connection that is cut", () => {
  for (const moment of ["before", "during", "after"] as const satisfies readonly CutMoment[]) {
    test(`${moment} COMMIT: each event of a group is stored once, and its writer learns so`, { timeout: 60_000 }, async (t) => {
      const proxy = await startProxy(server.socket);
      const { ledger, url, directory } = await openThrough(t, proxy.socket);
      t.after(proxy.close);
      const lease = await begin(ledger);
      const wanted: string[] = [];
      for (let round = 0; round < 5; round += 1) {
        const cut = proxy.cut(moment);
        const names = [`${round}a`, `${round}b`];
        const stored = await ledger.append(lease, 2 + wanted.length, { events: names.map(noise), durability: "full" });
        await cut;
        wanted.push(...names);
        assert.deepEqual(
          stored.map(({ seq }) => seq),
          [1 + wanted.length, 2 + wanted.length],
        );
      }
      assert.deepEqual(await readHooks(ledger), wanted);
      assert.deepEqual((await verifyPostgres({ url, directory })).findings, []);
    });
  }

  test("around an answer: it is given once, and the same answer again is the same event", { timeout: 60_000 }, async (t) => {
    const proxy = await startProxy(server.socket);
    const { ledger } = await openThrough(t, proxy.socket);
    t.after(proxy.close);
    const lease = await begin(ledger);
    await ledger.append(lease, 2, {
      events: [proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1")],
      durability: "full",
    });
    for (const moment of ["after", "during"] as const) {
      const cut = proxy.cut(moment);
      const outcome = await ledger.answer([answeredDraft(SESSION, "c1")]);
      await cut.catch(() => undefined);
      const stored: StoredEvent[] = [];
      for await (const event of ledger.read({ pos: 0 }, { types: ["approval.answered"] })) stored.push(event);
      assert.equal(stored.length, 1);
      assert.equal(("won" in outcome ? outcome.won[0] : outcome.lost)?.pos, stored[0]?.pos);
    }
  });
});

for (const how of ["crash", "in order"] as const) {
  test(`a server that restarts (${how}) loses nothing that was acknowledged, and a subscriber misses nothing`, {
    timeout: 60_000,
  }, async (t) => {
    const { ledger, url, directory } = await openThrough(t, server.socket);
    const lease = await begin(ledger);
    const delivered: string[] = [];
    const { promise: complete, resolve } = Promise.withResolvers<void>();
    const { close } = ledger.subscribe({ pos: 0 }, { session: SESSION, types: ["hook.ran"] }, ({ body }) => {
      delivered.push(String(body["hook"]));
      if (delivered.length === 60) resolve();
    });
    let restarting: Promise<void> | undefined;
    for (let at = 0; at < 60; at += 1) {
      if (at === 20) restarting = server.restart(how);
      await ledger.append(lease, 2 + at, { events: [noise(`${at}`)], durability: "full" });
    }
    await restarting;
    await complete;
    close();
    const wanted = Array.from({ length: 60 }, (_, at) => `${at}`);
    assert.deepEqual(await readHooks(ledger), wanted);
    assert.deepEqual(delivered, wanted);
    assert.deepEqual((await verifyPostgres({ url, directory })).findings, []);
  });
}

test("a server that crashes and loses commits that were not synced does not make a process write after events that are gone", {
  timeout: 60_000,
}, async (t) => {
  await server.sql("alter system set wal_writer_delay = '10s'");
  await server.sql("select pg_reload_conf()");
  const { ledger, url, directory } = await openThrough(t, server.socket);
  const other = await openPostgresLedger({ url, directory });
  t.after(other.close);
  const elsewhere = await begin(other, "s_bbbbbbbbbbbbbbbbbbbb");
  const lease = await begin(ledger);
  const events = ["a", "b", "c"].map(noise);
  await ledger.append(lease, 2, { events, durability: "normal" });
  const head = await ledger.head();
  await server.restart("crash");
  assert.equal(await other.head(), head - 3, "the server lost what was not synced");
  await other.append(elsewhere, 2, { events, durability: "full" });
  assert.equal(await other.head(), head, "the counter is where it was");
  (await ledger.hold(lease))(); // connects again, before the next commit
  const isConflict = (error: unknown): boolean => error instanceof LedgerError && error.type === "sequence_conflict";
  await assert.rejects(ledger.append(lease, 5, { events, durability: "full" }), isConflict);
  assert.deepEqual((await verifyPostgres({ url, directory })).findings, []);
});

const FOLLOWED: readonly (readonly [sentence: string, filter: EventFilter])[] = [
  ["the shared chain", { session: SHARED }],
  ["all events", {}],
  ["some types", { types: ["store.snapshot", "approval.answered"] }],
];
test("a subscriber that saw commits which a crash of the server undid gets what is stored in their place", {
  timeout: 60_000,
}, async (t) => {
  await server.sql("alter system set wal_writer_delay = '10s'");
  await server.sql("select pg_reload_conf()");
  const { ledger, url, directory, warnings } = await openThrough(t, server.socket);
  const other = await openPostgresLedger({ url, directory });
  t.after(other.close);
  const lease = await begin(other);
  await other.append(lease, 2, {
    events: [proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1")],
    durability: "full",
  });
  const seen = FOLLOWED.map((): string[] => []);
  const failures: unknown[] = [];
  const pos = await ledger.head();
  const subscriptions = FOLLOWED.map(([, filter], at) =>
    ledger.subscribe(
      { pos },
      filter,
      ({ type }) => seen[at]?.push(type),
      (error) => void failures.push(error),
    ),
  );
  t.after(() => {
    for (const { close } of subscriptions) close();
  });
  await other.snapshot(SESSION, 2, { state: {} });
  await waitUntil(() => seen.every((types) => types.includes("store.snapshot")));
  await server.restart("crash");
  assert.equal(await other.head(), pos, "the server lost what was not synced");
  await other.answer([answeredDraft(SESSION, "c1")]);
  await waitUntil(() => failures.length > 0 || seen.every((types) => types.includes("approval.answered")));
  assert.deepEqual(failures, []);
  assert.deepEqual(
    Object.fromEntries(FOLLOWED.map(([sentence], at) => [sentence, seen[at]])),
    Object.fromEntries(FOLLOWED.map(([sentence]) => [sentence, ["store.snapshot", "approval.answered"]])),
  );
  assert.ok(warnings.every(({ type }) => type !== "subscriber_failed"));
});

test("while the database is away nothing is stored, people are told, and it continues by itself", { timeout: 60_000 }, async (t) => {
  const { ledger, warnings } = await openThrough(t, server.socket);
  const lease = await begin(ledger);
  await server.stop();
  let isStored = false;
  const append = ledger.append(lease, 2, { events: [noise("late")], durability: "full" }).then(() => {
    isStored = true;
  });
  await waitUntil(() => warnings.some(({ type }) => type === "store_unreachable"));
  assert.equal(isStored, false);
  assert.match(warnings[0]?.message ?? "", /cannot be reached: .*Nothing runs until it is back\.$/);
  await server.start();
  await append;
  assert.deepEqual(
    warnings.map(({ type }) => type),
    ["store_unreachable", "store_reachable"],
  );
  assert.deepEqual(await readHooks(ledger), ["late"]);
});

test("a database that stays away is an error, and so is one that is away at the start; neither names the password", {
  timeout: 60_000,
}, async (t) => {
  const { ledger, url, directory } = await openThrough(t, server.socket, 300);
  const lease = await begin(ledger);
  await server.stop();
  const isAway = (error: unknown): boolean =>
    error instanceof LedgerError &&
    error.type === "store_unreachable" &&
    !JSON.stringify([error, error.message, error.stack]).includes("hunter2");
  await assert.rejects(ledger.append(lease, 2, { events: [noise("lost")], durability: "full" }), isAway);
  await assert.rejects(openPostgresLedger({ url: url.replace("postgres@", "postgres:hunter2@"), directory }), isAway);
  await server.start();
  await ledger.append(lease, 2, { events: [noise("later")], durability: "full" });
  assert.deepEqual(await readHooks(ledger), ["later"]);
});

/** Looks every few milliseconds, for half a minute at most. */
async function waitUntil(isTrue: () => boolean): Promise<void> {
  for (let left = 6_000; left > 0 && !isTrue(); left -= 1) await new Promise((resolve) => setTimeout(resolve, 5));
}
