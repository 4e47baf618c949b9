import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Lease, type Ledger, LedgerError } from "@assent/core";
import { claimedDraft, createdDraft, draftOf, judgedDraft, proposedDraft } from "@assent/core/testing";
import { freshSchema, openWatched, scratch, thisHolder } from "./made-ledger.ts";
import { startPostgres } from "./postgres-server.ts";

const server = await startPostgres(18);
const SESSION = "s_aaaaaaaaaaaaaaaaaaaa";
const LEASE_MS = 400;

type Stopping = { isStopped: boolean };

/** Two ledgers on one store, as two machines have them. The first one stops renewing when it is stopped, as a process does on SIGSTOP. */
async function openBoth(t: TestContext): Promise<{ first: Ledger; second: Ledger; stopping: Stopping }> {
  const { directory, remove } = scratch();
  const url = server.url(freshSchema());
  const stopping = { isStopped: false };
  const before = (text: string): void => {
    if (stopping.isStopped && text.startsWith("update leases l set")) throw new LedgerError("store_io", "stopped");
  };
  const first = await openWatched(url, directory, before, { leaseMs: LEASE_MS });
  const second = await openWatched(url, directory, () => undefined, { leaseMs: LEASE_MS });
  t.after(async () => {
    await first.close();
    await second.close();
    remove();
  });
  return { first, second, stopping };
}

async function begin(ledger: Ledger): Promise<Lease> {
  const holder = thisHolder();
  const lease = await ledger.acquire(SESSION, holder);
  const events = [createdDraft(), draftOf("session.opened", { ...holder, recovered: [] }), proposedDraft("c1"), judgedDraft("c1")];
  await ledger.append(lease, 0, { events, durability: "full" });
  return lease;
}

/** Tries until the session is free. */
async function acquireWhenFree(ledger: Ledger, takeOver: boolean): Promise<{ readonly lease: Lease; readonly refused: readonly string[] }> {
  const refused = new Set<string>();
  for (;;) {
    try {
      return { lease: await ledger.acquire(SESSION, thisHolder(), takeOver), refused: [...refused] };
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error;
      refused.add(error.type);
    }
  }
}

function isStale(error: unknown): boolean {
  return error instanceof LedgerError && error.type === "stale_writer";
}

test("a holder that renews keeps its session for longer than one lease", { timeout: 60_000 }, async (t) => {
  const { first, second } = await openBoth(t);
  const lease = await begin(first);
  const end = performance.now() + 3 * LEASE_MS;
  while (performance.now() < end)
    await assert.rejects(second.acquire(SESSION, thisHolder()), (error) => error instanceof LedgerError && error.type === "session_in_use");
  await first.append(lease, 4, { events: [proposedDraft("c2")], durability: "normal" });
});

test("a holder that stopped is replaced once its lease has ended, and is refused at its next check when it wakes", {
  timeout: 60_000,
}, async (t) => {
  const { first, second, stopping } = await openBoth(t);
  const old = await begin(first);
  stopping.isStopped = true;
  const { lease, refused } = await acquireWhenFree(second, false);
  assert.deepEqual(refused, ["session_in_use"]);
  assert.ok(lease.epoch > old.epoch);
  assert.equal(lease.unclosed, true);
  await assert.rejects(first.hold(old), isStale);
  await assert.rejects(first.claim(old, 4, claimedDraft("c1")), isStale);
  await assert.rejects(first.append(old, 4, { events: [proposedDraft("c2")], durability: "full" }), isStale);
  assert.ok("won" in (await second.claim(lease, 4, claimedDraft("c1"))));
});

test("a holder that stopped in the middle of a call is not in the way once its lease has ended", { timeout: 60_000 }, async (t) => {
  const { first, second, stopping } = await openBoth(t);
  const old = await begin(first);
  await first.hold(old);
  stopping.isStopped = true;
  const { refused } = await acquireWhenFree(second, true);
  assert.deepEqual(refused, ["session_busy"]);
  await assert.rejects(first.append(old, 4, { events: [proposedDraft("c2")], durability: "full" }), isStale);
});

test("a ledger that is closed gives its sessions back at once", { timeout: 60_000 }, async (t) => {
  const { first, second } = await openBoth(t);
  await begin(first);
  await first.close();
  assert.equal((await second.acquire(SESSION, thisHolder())).unclosed, true);
});

test("of ten processes that take a free session at once, one gets it", { timeout: 60_000 }, async (t) => {
  const { first, second } = await openBoth(t);
  const all = Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? first : second).acquire(SESSION, thisHolder()));
  const won = (await Promise.allSettled(all)).filter(({ status }) => status === "fulfilled");
  assert.equal(won.length, 1);
});
