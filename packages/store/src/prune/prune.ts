import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SHARED } from "@assent/core";
import { type Database, query, transact } from "../database/database.ts";
import { removeLock } from "../files/session-lock.ts";
import { type OpenStore, type OpenStoreOptions, openStore } from "../open/open-store.ts";
import { stageShared } from "../write/append.ts";
import { makeDraft } from "../write/staging.ts";
import { findPrunable, type Prunable } from "./prunable.ts";

/** The options of `pruneStore`. */
export type PruneOptions = Pick<OpenStoreOptions, "directory" | "clock" | "openDatabase"> & {
  /** Milliseconds since the session's last event. */
  readonly olderThan: number;
  readonly dryRun?: boolean;
};

/** Removed sessions and bytes, and how many old sessions were kept, by reason. */
export type PruneReport = { readonly sessions: number; readonly bytes: number; readonly kept: Prunable["kept"] };

/** Removes events and outputs of ended sessions; keeps the head of each chain. */
export async function pruneStore({ olderThan, dryRun = false, clock = Date, ...options }: PruneOptions): Promise<PruneReport> {
  const store = await openStore({ ...options, clock, createIfMissing: false });
  try {
    if (store.refusal) throw store.refusal;
    const find = makeFinding(store.database, new Date(clock.now() - olderThan).toISOString());
    const { families, kept } = find();
    if (!dryRun && families.length > 0) moveMarks(store);
    let sessions = 0;
    let bytes = 0;
    for (const family of families) {
      const size = family.reduce((sum, session) => sum + sizeOf(store, session), 0);
      if (!dryRun && !remove(store, family, find)) continue; // another process resumed or forked it
      sessions += family.length;
      bytes += size;
    }
    return { sessions, bytes, kept };
  } finally {
    store.database.close();
  }
}

/** A checkpoint is never pruned, so its mark replaces the others. */
function moveMarks({ database, writing, marks, time }: OpenStore): void {
  if (marks.list().length === 0) return;
  database.exec("pragma synchronous=full");
  const head = transact(database, () => {
    writing.begin();
    stageShared(writing, makeDraft("store.checkpoint", { heads: [] }, time()));
    writing.keep();
    writing.flush();
    return writing.rows.chains.get(SHARED);
  });
  if (head) marks.put(head);
}

/** Searches again only after another process wrote. */
function makeFinding(database: Database, before: string): () => Prunable {
  const version = query<{ data_version: number }>(database, "pragma data_version");
  let seen: number | undefined;
  let found: Prunable | undefined;
  return () => {
    const now = version.get()?.data_version;
    if (found === undefined || now !== seen) found = findPrunable(database, before);
    seen = now;
    return found;
  };
}

function sizeOf({ database, paths }: OpenStore, session: string): number {
  const events = query<{ bytes: number | null }>(database, "select sum(octet_length(body)) as bytes from events where session = ?").get(
    session,
  );
  const values = query<{ bytes: number | null }>(database, `select sum(length(bytes)) as bytes from blobs where sha in (${OWN_BLOBS})`);
  return (events?.bytes ?? 0) + (values.get(session, session)?.bytes ?? 0) + sizeOfTree(outputDirectory(paths.output, session));
}

/** Selects the values that no other session needs; takes the session twice. */
export const OWN_BLOBS = "select sha from blob_uses where session = ? and sha not in (select sha from blob_uses where session <> ?)";

function remove({ database, paths, files, writing, time }: OpenStore, family: readonly string[], find: () => Prunable): boolean {
  database.exec("pragma secure_delete=on; pragma synchronous=full");
  const removed = transact(database, () => {
    writing.begin();
    if (!find().families.some((one) => one.join() === family.join())) return false;
    for (const session of family) {
      const chain = writing.rows.chains.get(session);
      if (chain) stageShared(writing, makeDraft("store.pruned", { session, seq: chain.seq, hash: chain.hash }, time()));
    }
    writing.keep();
    writing.flush();
    for (const session of family) deleteSession(database, session);
    return true;
  });
  files.check();
  for (const session of removed ? family : []) {
    rmSync(outputDirectory(paths.output, session), { recursive: true, force: true });
    removeLock(paths, session);
  }
  return removed;
}

function deleteSession(database: Database, session: string): void {
  query(database, `delete from blobs where sha in (${OWN_BLOBS})`).run(session, session);
  for (const table of ["blob_uses", "events", "snapshots", "approvals", "proposals", "questions"])
    query(database, `delete from ${table} where session = ?`).run(session);
}

/** Encodes the id, so that it cannot leave the directory. */
export function outputDirectory(output: string, session: string): string {
  if (!/^[\w-]+$/.test(session)) throw new Error(`'${session}' is not a directory name.`);
  return join(output, session);
}

export function sizeOfTree(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return 0;
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOfTree(join(path, name)), 0);
}
