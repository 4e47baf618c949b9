import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import type { Holder, Lease, Ledger } from "@assent/core";
import { createdDraft, draftOf } from "@assent/core/testing";
import { type OpenLedgerOptions, openLedger, type StoreExtras } from "../src/open-ledger.ts";

/** A directory for one test, gone after it. */
export async function scratch(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "assent-store-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** A ledger in a directory of its own, closed after the test. */
export async function madeLedger(t: TestContext, options: Partial<OpenLedgerOptions> = {}): Promise<Ledger & StoreExtras> {
  const ledger = await openLedger({ directory: join(await scratch(t), "state"), ...options });
  t.after(() => ledger.close());
  return ledger;
}

/** This process, as a live holder. */
export function thisHolder(): Holder {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  const stat = readFileSync("/proc/self/stat", "utf8");
  return {
    pid: process.pid,
    host: hostname(),
    processStart: `${boot}:${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`,
    door: "test",
  };
}

/** A session that begins, with its lease and the head it has now. */
export async function begun(ledger: Ledger, session = "s_aaaaaaaaaaaaaaaaaaaa", takeOver = false): Promise<Lease> {
  const holder = thisHolder();
  const lease = await ledger.acquire(session, holder, takeOver);
  if (lease.head > 0) return lease;
  const events = [createdDraft(), draftOf("session.opened", { ...holder, recovered: [] })];
  await ledger.append(lease, 0, { events, durability: "normal" });
  return { ...lease, head: 2 };
}

/** The database file, opened past the store, to look or to tamper. */
export function tamper(directory: string, work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(join(directory, "ledger.db"), { timeout: 5_000 });
  try {
    work(database);
  } finally {
    database.close();
  }
}
