import { type LedgerError, SHARED } from "@assent/core";
import {
  type ChainColumns,
  type ChainEntry,
  type EventColumns,
  foldCall,
  type ListEntry,
  type ListRows,
  listsMismatch,
  parseRow,
  splitCallKey,
  toChainEntry,
} from "@assent/store/parts";
import type { Connection } from "../connect/connection.ts";
import type { LoadedRows, RowKeys } from "./loaded-rows.ts";

export const EVENT_SELECT = "e.pos, e.session, e.seq, e.epoch, e.at, e.type, e.v, e.body, e.prev, e.hash";

/** Loads what is not loaded yet. All queries are sent at once. */
export async function loadRows(connection: Connection, rows: LoadedRows, keys: RowKeys): Promise<void> {
  await Promise.all([
    load(rows.chains, keys.chains, (missing) => loadChains(connection, rows, missing)),
    load(rows.calls, keys.calls, (missing) => loadCalls(connection, rows, missing)),
    load(rows.contents, keys.contents, (missing) => loadContents(connection, rows, missing)),
    load(rows.events, keys.events, (missing) => loadEvents(connection, rows, missing)),
    load(rows.hashes, keys.hashes, (missing) => loadHashes(connection, rows, missing)),
    load(rows.leases, keys.leases, (missing) => loadLeases(connection, rows, missing)),
    ...(["approvals", "grants", "proposals", "questions"] as const).map((table) =>
      load(rows[table], keys[table], (missing) => loadList(connection, rows, table, missing)),
    ),
  ]);
}

type KnownKeys = { readonly has: (key: string) => boolean; readonly loaded: (key: string, value: undefined) => void };

async function load(
  table: KnownKeys,
  keys: readonly string[] | undefined,
  read: (missing: readonly string[]) => Promise<void>,
): Promise<void> {
  const missing = keys?.filter((key) => !table.has(key)) ?? [];
  if (missing.length === 0) return;
  await read(missing);
  for (const key of missing) if (!table.has(key)) table.loaded(key, undefined);
}

async function loadChains(connection: Connection, { chains }: LoadedRows, sessions: readonly string[]): Promise<void> {
  const { rows } = await connection.query<ChainColumns & { readonly tail: string | null }>(
    "select s.*, e.hash as tail from sessions s left join events e on e.session = s.session and e.seq = s.seq where s.session = any($1)",
    [sessions],
  );
  for (const row of rows) chains.loaded(row.session, readChain(row, row.tail));
}

/** An error if the row does not belong to its chain. */
function readChain(columns: ChainColumns, tail: string | null): ChainEntry | LedgerError {
  const { session, seq, pruned, hash } = columns;
  return seq > 0 && pruned === 0 && tail !== hash ? listsMismatch({ session }) : toChainEntry(columns);
}

async function loadCalls(connection: Connection, { calls }: LoadedRows, keys: readonly string[]): Promise<void> {
  const split = keys.map(splitCallKey);
  const values = [keys.map((_, at) => at), split.map(({ session }) => session), split.map(({ call }) => call)];
  const given = "unnest($1::int[], $2::text[], $3::text[]) as k(at, session, call)";
  const [own, asked] = await Promise.all([
    connection.query<EventColumns & { readonly index: number }>(
      `select k.at as index, ${EVENT_SELECT} from ${given} join events e on e.session = k.session and e.call = k.call
       union all select k.at as index, ${EVENT_SELECT} from ${given} join events e on e.naming = k.session and e.call = k.call order by pos`,
      values,
    ),
    connection.query<{ readonly index: number; readonly id: string }>(
      `select k.at as index, q.id from ${given} join questions q on q.session = k.session and q.call = k.call and q.open = 1 order by q.first`,
      values,
    ),
  ]);
  for (const [index, events] of Map.groupBy(own.rows, (row) => row.index)) {
    if (!events.some(({ type }) => type === "call.proposed")) continue;
    const entry = foldCall(events);
    const open = asked.rows.filter((one) => one.index === index).map(({ id }) => id);
    calls.loaded(keys[index] ?? "", entry?.row ? { ...entry, asked: open } : entry);
  }
}

async function loadContents(connection: Connection, { contents }: LoadedRows, shas: readonly string[]): Promise<void> {
  const { rows } = await connection.query<{ readonly sha: string }>("select sha from blobs where sha = any($1)", [shas]);
  for (const { sha } of rows) contents.loaded(sha, true);
}

async function loadEvents(connection: Connection, { events }: LoadedRows, positions: readonly string[]): Promise<void> {
  const { rows } = await connection.query<EventColumns>(`select ${EVENT_SELECT} from events e where pos = any($1::bigint[])`, [positions]);
  for (const row of rows) events.loaded(String(row.pos), row);
}

async function loadHashes(connection: Connection, { hashes }: LoadedRows, positions: readonly string[]): Promise<void> {
  const { rows } = await connection.query<{ readonly pos: number; readonly hash: string }>(
    "select pos, hash from events where pos = any($1::bigint[]) union all select pos, hash from pruned_claims where pos = any($1::bigint[])",
    [positions],
  );
  for (const { pos, hash } of rows) hashes.loaded(String(pos), hash);
}

/** Locked, so that the holder's renewal comes before or after, not in between. */
async function loadLeases(connection: Connection, { leases }: LoadedRows, sessions: readonly string[]): Promise<void> {
  const { rows } = await connection.query<{
    readonly session: string;
    readonly epoch: number;
    readonly lives: boolean;
    readonly busy: boolean;
  }>("select session, epoch, held_until > clock_timestamp() as lives, busy from leases where session = any($1) for update", [sessions]);
  for (const { session, ...lease } of rows) leases.loaded(session, lease);
}

type ListColumns = { readonly id: string; readonly first: number; readonly latest: number; readonly row: string };

async function loadList<K extends keyof ListRows>(
  connection: Connection,
  loaded: LoadedRows,
  table: K,
  ids: readonly string[],
): Promise<void> {
  const { rows } = await connection.query<ListColumns>(`select id, first, latest, row from ${table} where id = any($1)`, [ids]);
  // TypeScript does not see that one key gives one member of the union.
  const target = loaded[table] as { readonly loaded: (key: string, value: ListEntry<ListRows[K]>) => void };
  for (const { id, first, latest, row } of rows) target.loaded(id, { first, latest, row: parseRow<ListRows[K]>(row) });
}

/** The chain that all processes share. */
export const SHARED_KEYS: RowKeys = { chains: [SHARED] };
