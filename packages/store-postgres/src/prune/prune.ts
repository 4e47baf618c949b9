import { rmSync } from "node:fs";
import { join } from "node:path";
import type { SessionRow } from "@assent/core";
import type { PruneReport } from "@assent/store";
import {
  type ChainColumns,
  choosePrunable,
  type ListedSession,
  makeDraft,
  OWN_BLOBS,
  outputDirectory,
  type Prunable,
  SELECT_WAITING,
  sizeOfTree,
  stageShared,
  toChainEntry,
} from "@assent/store/parts";
import type { Connection } from "../connect/connection.ts";
import { type OpenPostgresOptions, openStore } from "../open/open-ledger.ts";
import type { WriteContext } from "../write/transaction.ts";

/** The options of `prunePostgres`. */
export type PrunePostgresOptions = Pick<OpenPostgresOptions, "url" | "directory"> & {
  /** Milliseconds since the session's last event. */
  readonly olderThan: number;
  readonly dryRun?: boolean;
};

/** All sessions are read for each group, while others wait to write. */
const FAMILIES_AT_ONCE = 100;

/** Removes events of ended sessions, and their outputs on this machine; keeps the head of each chain. */
export async function prunePostgres({ olderThan, dryRun = false, ...options }: PrunePostgresOptions): Promise<PruneReport> {
  const { ledger, link, submit } = await openStore({ ...options, createIfMissing: false });
  try {
    if (ledger.refusal) throw ledger.refusal;
    const before = await link.run((connection) => timeBefore(connection, olderThan));
    const { families, kept } = await link.run((connection) => findPrunable(connection, before));
    let sessions = 0;
    let bytes = 0;
    for (let at = 0; at < families.length; at += FAMILIES_AT_ONCE) {
      const some = families.slice(at, at + FAMILIES_AT_ONCE);
      const sizes = await link.run((connection) => sizesOf(connection, options.directory, some));
      const removed = dryRun ? some : await removeFamilies(submit, some, before);
      for (const family of removed) {
        if (!dryRun) for (const session of family) rmSync(outputOf(options.directory, session), { recursive: true, force: true });
        sessions += family.length;
        bytes += sizes.get(family) ?? 0;
      }
    }
    return { sessions, bytes, kept };
  } finally {
    await ledger.close();
  }
}

async function timeBefore(connection: Connection, olderThan: number): Promise<string> {
  const { rows } = await connection.query<{ readonly now: Date }>("select clock_timestamp() as now");
  return new Date((rows[0]?.now.getTime() ?? 0) - olderThan).toISOString();
}

async function findPrunable(connection: Connection, before: string): Promise<Prunable> {
  const { rows } = await connection.query<ChainColumns>("select * from sessions where row is not null and session <> '_store'");
  const { rows: waiting } = await connection.query<{ readonly session: string }>(SELECT_WAITING);
  const sessions = new Map<string, ListedSession>();
  for (const columns of rows) {
    const { row, ...chain } = toChainEntry(columns);
    if (row) sessions.set(chain.session, { ...chain, row: row satisfies SessionRow });
  }
  return choosePrunable(sessions, new Set(waiting.map(({ session }) => session)), before);
}

const outputOf = (directory: string, session: string): string => outputDirectory(join(directory, "output"), session);

async function sizesOf(connection: Connection, directory: string, families: Prunable["families"]): Promise<Map<readonly string[], number>> {
  const sizes = new Map<readonly string[], number>();
  for (const family of families)
    for (const session of family) {
      const { rows } = await connection.query<{ readonly bytes: number | null }>(
        `select coalesce((select sum(octet_length(body)) from events where session = $1), 0)::bigint +
         coalesce((select sum(octet_length(bytes)) from blobs where sha in (${OWN_BLOBS.replaceAll("?", "$1")})), 0)::bigint as bytes`,
        [session],
      );
      sizes.set(family, (sizes.get(family) ?? 0) + (rows[0]?.bytes ?? 0) + sizeOfTree(outputOf(directory, session)));
    }
  return sizes;
}

type Submit = Awaited<ReturnType<typeof openStore>>["submit"];

/** Looks again in the transaction, because another process may have resumed or forked a session. Returns the families that it removed. */
async function removeFamilies(submit: Submit, families: Prunable["families"], before: string): Promise<Prunable["families"]> {
  let found = new Set<string>();
  return submit(
    "full",
    { chains: families.flat() },
    (context) => {
      const removed = families.filter((family) => found.has(family.join()));
      for (const session of removed.flat()) removeSession(context, session);
      return removed;
    },
    async (connection) => {
      found = new Set((await findPrunable(connection, before)).families.map((family) => family.join()));
    },
  );
}

/** Claims are kept, because the marks of other machines may name them. */
const DELETES: readonly string[] = [
  "insert into pruned_claims select pos, hash from events where session = $1 and type = 'call.claimed' on conflict do nothing",
  `delete from blobs where sha in (${OWN_BLOBS.replaceAll("?", "$1")})`,
  "delete from processes where pos in (select pos from events where session = $1)",
  ...["blob_uses", "events", "snapshots", "approvals", "proposals", "questions", "leases"].map(
    (table) => `delete from ${table} where session = $1`,
  ),
];

function removeSession({ staging, now, also }: WriteContext, session: string): void {
  const chain = staging.rows.chains.get(session);
  if (!chain) return;
  stageShared(staging, makeDraft("store.pruned", { session, seq: chain.seq, hash: chain.hash }, now()));
  for (const text of DELETES) also(text, [session]);
}
