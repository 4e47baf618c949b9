import { readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import type { Draft, Holder, Lease, Ledger, LedgerEvent, StoredEvent } from "@assent/core";
import { createdDraft, draftOf } from "@assent/core/testing";
import type { OpenDatabase } from "../src/database/database.ts";
import { type OpenLedgerOptions, openLedger, type StoreExtras } from "../src/open/open-ledger.ts";

export const A = "s_aaaaaaaaaaaaaaaaaaaa";
export const B = "s_bbbbbbbbbbbbbbbbbbbb";

const cleanups = new WeakMap<TestContext, (() => unknown)[]>();

/** Runs `work` after the test, what was registered last first: a ledger is closed before its directory goes. */
function afterwards(t: TestContext, work: () => unknown): void {
  const registered = cleanups.get(t) ?? [];
  if (registered.length === 0)
    t.after(async () => {
      for (const one of registered.toReversed()) await one();
    });
  registered.push(work);
  cleanups.set(t, registered);
}

/** The locks of this process on a file, as Linux lists them. SQLite tells by them whether another process uses the store. */
export function locksOn(file: string): readonly string[] {
  const { ino } = statSync(file);
  return readFileSync("/proc/locks", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/).slice(1).join(" "))
    .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `));
}

/** A directory for one test, gone after it. */
export async function scratch(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "assent-store-"));
  afterwards(t, () => rm(path, { recursive: true, force: true }));
  return path;
}

/** A ledger in a directory of its own, closed after the test. */
export async function madeLedger(t: TestContext, options: Partial<OpenLedgerOptions> = {}): Promise<Ledger & StoreExtras> {
  const ledger = await openLedger({ directory: join(await scratch(t), "state"), ...options });
  afterwards(t, () => ledger.close());
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

/** A writer that knows the head of its chain. */
export type Writer = {
  readonly lease: Lease;
  readonly append: (...events: readonly Draft[]) => Promise<readonly LedgerEvent[]>;
  readonly full: (...events: readonly Draft[]) => Promise<readonly LedgerEvent[]>;
  /** Appends events and the contents they name. */
  readonly appendWith: (blobs: readonly Uint8Array[], ...events: readonly Draft[]) => Promise<readonly LedgerEvent[]>;
  readonly claim: (claimed: Draft<"call.claimed">) => ReturnType<Ledger["claim"]>;
};

/** Takes a session and, if it is new, begins it. */
export async function begin(ledger: Ledger, session = A, takeOver = false): Promise<Writer> {
  const holder = thisHolder();
  const lease = await ledger.acquire(session, holder, takeOver);
  let head = lease.head;
  const store = async (batch: Parameters<Ledger["append"]>[2]): Promise<readonly LedgerEvent[]> => {
    const stored = await ledger.append(lease, head, batch);
    head += stored.length;
    return stored;
  };
  const writer: Writer = {
    lease,
    append: (...events) => store({ events, durability: "normal" }),
    full: (...events) => store({ events, durability: "full" }),
    appendWith: (blobs, ...events) => store({ events, durability: "full", blobs }),
    claim: async (claimed) => {
      const outcome = await ledger.claim(lease, head, claimed);
      if ("won" in outcome) head += 1;
      return outcome;
    },
  };
  if (head === 0) await writer.append(createdDraft(), draftOf("session.opened", { ...holder, recovered: [] }));
  return writer;
}

/** An event that changes nothing. */
export function noise(at = 0): Draft<"hook.ran"> {
  return draftOf("hook.ran", { event: "post_tool_use", hook: `h${at}`, outcome: "allow", durationMs: at });
}

/** Everything a reader is given. */
export async function readAll(ledger: Ledger, ...query: Partial<Parameters<Ledger["read"]>>): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const event of ledger.read(query[0] ?? { pos: 0 }, query[1] ?? {})) events.push(event);
  return events;
}

/** The database file, opened past the store, to look or to tamper. */
export function tamper<T>(directory: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(join(directory, "ledger.db"), { timeout: 5_000 });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** What to do around the statements of a database. `exec` and `run` may throw instead of what was asked. */
export type Around = { readonly exec?: (sql: string) => void; readonly run?: (sql: string) => void; readonly timeout?: number };

/** Opens the real database and stands in between. */
export function opening({ exec, run, timeout }: Around): OpenDatabase {
  return (file, options) => {
    const database = new DatabaseSync(file, { ...options, ...(timeout !== undefined && { timeout }) });
    return {
      get isTransaction() {
        return database.isTransaction;
      },
      close: () => database.close(),
      exec: (sql) => {
        exec?.(sql);
        database.exec(sql);
      },
      prepare: (sql) => {
        const statement = database.prepare(sql);
        const real = statement.run.bind(statement);
        statement.run = ((...values: Parameters<typeof real>) => {
          run?.(sql);
          return real(...values);
        }) as typeof statement.run;
        return statement;
      },
    };
  };
}

/** An error as SQLite raises it. */
export function sqliteError(errcode: number, message: string): Error {
  return Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode });
}
