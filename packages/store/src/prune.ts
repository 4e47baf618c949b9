import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { SessionRow } from "@assent/core";
import { stageShared } from "./append.ts";
import { type Database, query, transact } from "./database.ts";
import { type OpenStore, type OpenStoreOptions, openStore } from "./open-store.ts";
import { draft } from "./own-draft.ts";
import { type ChainColumns, chainReading } from "./stored-chains.ts";

/** Which sessions to remove. */
export type PruneOptions = Pick<OpenStoreOptions, "directory" | "clock" | "openDatabase"> & {
  /** Milliseconds since the session's last event. */
  readonly olderThan: number;
  /** Only says what would be removed. */
  readonly dryRun?: boolean;
};

/** How many sessions were removed, and the bytes of their events, values and outputs. */
export type PruneReport = { readonly sessions: number; readonly bytes: number };

const ENDED: readonly SessionRow["state"][] = ["done", "failed", "cancelled"];

/** Removes the events and outputs of ended sessions. The head of each chain stays in the record, so that nobody misses it. */
export async function pruneStore({ olderThan, dryRun = false, clock = Date, ...options }: PruneOptions): Promise<PruneReport> {
  const store = await openStore({ ...options, clock, createIfMissing: false });
  try {
    if (store.refusal) throw store.refusal;
    const before = new Date(clock.now() - olderThan).toISOString();
    let sessions = 0;
    let bytes = 0;
    for (const session of endedBefore(store.database, before)) {
      const size = sizeOf(store, session);
      if (!dryRun && !remove(store, session, before)) continue; // somebody resumed it meanwhile
      sessions += 1;
      bytes += size;
    }
    return { sessions, bytes };
  } finally {
    store.database.close();
  }
}

/** Something staged or asked may still be settled by a person, like an open approval. */
const WAITING_FOR_NOBODY = ["proposals", "questions"]
  .map((table) => `and session not in (select session from ${table} where open = 1)`)
  .join(" ");

function endedBefore(database: Database, before: string, only?: string): readonly string[] {
  const found: string[] = [];
  const { read } = chainReading(database);
  const rows = query<ChainColumns>(
    database,
    `select * from sessions where closed = 1 and holder is null ${WAITING_FOR_NOBODY} ${only === undefined ? "" : "and session = ?"}`,
  );
  for (const columns of rows.iterate(...(only === undefined ? [] : [only]))) {
    const { session, row } = read(columns);
    if (row && ENDED.includes(row.state) && row.openApprovals === 0 && row.updatedAt < before) found.push(session);
  }
  return found;
}

function sizeOf({ database, paths }: OpenStore, session: string): number {
  const events = query<{ bytes: number | null }>(database, "select sum(octet_length(body)) as bytes from events where session = ?").get(
    session,
  );
  const values = query<{ bytes: number | null }>(database, `select sum(length(bytes)) as bytes from blobs where sha in (${OWN_BLOBS})`);
  return (events?.bytes ?? 0) + (values.get(session, session)?.bytes ?? 0) + sizeOfTree(outputOf(paths.output, session));
}

/** Values that no other chain refers to. */
const OWN_BLOBS = "select sha from blob_uses where session = ? and sha not in (select sha from blob_uses where session <> ?)";

function remove({ database, paths, writing, time }: OpenStore, session: string, before: string): boolean {
  database.exec("pragma secure_delete=on; pragma synchronous=full");
  const removed = transact(database, () => {
    writing.begin();
    const chain = writing.rows.chains.get(session);
    if (!chain || endedBefore(database, before, session).length === 0) return false;
    stageShared(writing, draft("store.pruned", { session, seq: chain.seq, hash: chain.hash }, time()));
    writing.keep();
    writing.flush();
    query(database, `delete from blobs where sha in (${OWN_BLOBS})`).run(session, session);
    for (const table of ["blob_uses", "events", "snapshots", "approvals", "proposals", "questions"])
      query(database, `delete from ${table} where session = ?`).run(session);
    return true;
  });
  if (removed) rmSync(outputOf(paths.output, session), { recursive: true, force: true });
  return removed;
}

/** A session's id is one name in the directory, never a way out of it. */
function outputOf(output: string, session: string): string {
  if (!/^[\w-]+$/.test(session)) throw new Error(`'${session}' is no name of a directory.`);
  return join(output, session);
}

function sizeOfTree(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return 0;
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOfTree(join(path, name)), 0);
}
