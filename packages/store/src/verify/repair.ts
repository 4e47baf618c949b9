import { closeSync, existsSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type EventBodies, type Holder, LedgerError, SHARED } from "@assent/core";
import { type Database, query, transact } from "../database/database.ts";
import { isMalformedFile } from "../database/malformed.ts";
import { findMissingMarks } from "../files/marks.ts";
import { malformedFile } from "../files/store-error.ts";
import type { OpenStore } from "../open/open-store.ts";
import { parseRow } from "../rows/rows.ts";
import { liveness, type StartOf, thisPlace } from "../write/lease.ts";
import { makeDraft, prepareEvent } from "../write/staging.ts";
import type { ChainCut } from "./past-cuts.ts";
import { removeBadSnapshots, writeLists } from "./rebuild.ts";
import { type Scan, scanEvents } from "./scan.ts";
import { settleSession } from "./settle-session.ts";

/** A chain that a repair cut; it is good up to and including `goodSeq`. */
export type RepairedChain = EventBodies["store.repaired"];

/** Copies the file aside, cuts every chain after its last good event, and ends what was open in cut sessions. */
export function repairStore(store: OpenStore, startOf?: StartOf): readonly RepairedChain[] {
  const { database, storeId, writing, marks } = store;
  const present = marks.list();
  if (isMalformedFile(database)) throw malformedFile("The database file is damaged.", {});
  if (scanEvents(database, { store: storeId }).damage.size === 0) return [];
  const held = heldSessions(database, startOf);
  copyAside(store);
  const restored = findMissingMarks(database, present); // these stay: the next opening notices the restored backup by them
  const cut = transact(database, () => {
    const top = query<{ pos: number | null }>(database, "select max(pos) as pos from events").get()?.pos ?? 0;
    const { cuts, scan } = cutDamage(database, storeId);
    refuseHeld(held, cuts);
    writeLists(database, scan);
    writing.reset();
    writing.begin();
    writing.startAfter(top); // a reader's cursor may point to a cut event
    const repaired = recordCuts(store, cuts);
    for (const { session, goodSeq } of repaired) if (session !== SHARED && goodSeq > 0) settleSession(store, scan, session);
    writing.keep();
    writing.flush();
    removeBadSnapshots(database, scan, storeId);
    return repaired;
  });
  marks.remove(findMissingMarks(database, present).filter((mark) => !restored.includes(mark))); // of events that were cut
  return cut;
}

function copyAside({ database, paths, time }: OpenStore): void {
  mkdirSync(paths.torn, { recursive: true, mode: 0o700 });
  const target = join(paths.torn, `ledger.db-${time().replaceAll(/\D/g, "")}`);
  transact(database, () => {
    copyLocked(paths.file, target);
    if (existsSync(`${paths.file}-wal`)) copyLocked(`${paths.file}-wal`, `${target}-wal`);
  });
}

/** Keeps the source open, because closing it would drop SQLite's locks. */
function copyLocked(file: string, target: string): void {
  const source = openSync(file, "r");
  const copy = openSync(target, "w", 0o600);
  try {
    const bytes = Buffer.alloc(1024 * 1024);
    for (let read = readSync(source, bytes); read > 0; read = readSync(source, bytes)) {
      for (let from = 0; from < read; ) from += writeSync(copy, bytes, from, read - from);
    }
  } finally {
    closeSync(copy);
  }
}

/** Repeats, because cutting one chain may void events of another. */
function cutDamage(database: Database, store: string): { readonly cuts: ReadonlyMap<string, ChainCut>; readonly scan: Scan } {
  const cuts = new Map<string, ChainCut>();
  const remove = query(database, "delete from events where session = ? and seq > ?");
  const removeSnapshot = query(database, "delete from snapshots where session = ? and seq > ?");
  const unname = query(database, "update events set naming = null where pos = ?");
  for (;;) {
    const scan = scanEvents(database, { store, cuts });
    for (const pos of scan.voided) unname.run(pos);
    const due = [...scan.damage].filter(([session, goodSeq]) => goodSeq < (cuts.get(session)?.goodSeq ?? Number.POSITIVE_INFINITY));
    if (due.length === 0) return { cuts, scan };
    for (const [session, goodSeq] of due) {
      remove.run(session, goodSeq);
      removeSnapshot.run(session, goodSeq);
      cuts.set(session, { pos: Number.POSITIVE_INFINITY, goodSeq });
    }
  }
}

type HeldSessions = ReadonlyMap<string, Holder>;

function heldSessions(database: Database, startOf: StartOf | undefined): HeldSessions {
  const isLive = liveness(thisPlace(), startOf);
  const rows = query<{ session: string; holder: string }>(database, "select session, holder from sessions where holder is not null");
  return new Map(
    rows
      .all()
      .map(({ session, holder }) => [session, parseRow<Holder>(holder)] as const)
      .filter(([, holder]) => isLive(holder)),
  );
}

function refuseHeld(held: HeldSessions, cuts: ReadonlyMap<string, ChainCut>): void {
  for (const [session, { pid, host, door }] of held) {
    if (!cuts.has(session) && !cuts.has(SHARED)) continue;
    throw new LedgerError("session_in_use", `Session ${session} is in use by pid ${pid}. End it before the repair.`, {
      session,
      pid,
      host,
      door,
    });
  }
}

/** A cut shared chain may have lost the highest epoch. */
function recordCuts({ database, writing, time }: OpenStore, cuts: ReadonlyMap<string, ChainCut>): readonly RepairedChain[] {
  const epoch = query<{ epoch: number | null }>(database, "select max(epoch) as epoch from events").get()?.epoch ?? 0;
  return [...cuts].map(([session, { goodSeq }]) => {
    const body = { session, goodSeq, lostFrom: goodSeq + 1 };
    writing.stage(
      SHARED,
      epoch,
      prepareEvent(makeDraft("store.repaired", body, time()), () => true),
    );
    return body;
  });
}
