import { callOf, isObject, type Json, namedSession, SHARED } from "@assent/core";
import { IS_OPEN, type ListEntry, type ListRows, SEARCH_COLUMN, type StagedEvent } from "@assent/store/parts";
import { type ElementType, encodeArray } from "./binary-array.ts";
import type { LoadedRows } from "./loaded-rows.ts";

/** One statement that stores events, changed rows and the new position. */
export type FlushStatement = { readonly text: string; readonly values: readonly unknown[] };

/** The names of columns with their types, in the order of the values. */
type Columns = Readonly<Record<string, ElementType>>;

type Insert = {
  readonly table: string;
  readonly columns: Columns;
  readonly rows: readonly (readonly unknown[])[];
  readonly conflict: string;
};

const EVENTS: Columns = {
  ...{ pos: "bigint", session: "text", seq: "bigint", epoch: "bigint", at: "text", type: "text", v: "int" },
  ...{ body: "text", prev: "text", hash: "text", call: "text", naming: "text" },
};

const SESSIONS: Columns = {
  ...{ session: "text", seq: "bigint", hash: "text", pos: "bigint", first: "bigint", epoch: "bigint" },
  ...{ policy_seq: "bigint", newest_at: "text", closed: "smallint", pruned: "smallint", holder: "text", row: "text" },
};

/** Stores only if the counter, the table of events and the server's process are still these. `isSynced` is false for durability "normal". */
export type FlushCondition = { readonly pos: number; readonly table: number; readonly pid: number; readonly isSynced: boolean };

/** Builds the statement. `channel` is notified, so that readers look. With a condition, it returns no row if it stored nothing. */
export function buildFlush({ staged, rows, pos, channel }: FlushedRows, condition?: FlushCondition): FlushStatement {
  const inserts = [insertEvents(staged), ...insertContents(staged), insertProcesses(staged), insertChains(rows), ...insertLists(rows)];
  const values: unknown[] = [pos, newestTime(staged), channel];
  let move = "update counter set pos = $1::bigint, newest_at = greatest(newest_at, $2::text)";
  if (condition) {
    values.push(condition.pos, condition.table, condition.pid);
    move += " where pos = $4::bigint and 'events'::regclass::oid::int8 = $5::bigint and pg_backend_pid() = $6::int";
  }
  const parts = [`moved as (${move} returning pos)`];
  for (const insert of inserts) if (insert.rows.length > 0) parts.push(`w${parts.length} as (${insertText(insert, values)})`);
  const unsynced = condition?.isSynced === false ? ", set_config('synchronous_commit', 'off', true)" : "";
  return { text: `with ${parts.join(", ")} select pg_notify($3::text, '')${unsynced} from moved`, values };
}

export type FlushedRows = {
  readonly staged: readonly StagedEvent[];
  readonly rows: LoadedRows;
  readonly pos: number;
  readonly channel: string;
};

function newestTime(staged: readonly StagedEvent[]): string {
  return staged.reduce((newest, { event: { at } }) => (at > newest ? at : newest), "");
}

/** One row is sent as single values, because arrays cost the server more. */
function insertText({ table, columns, rows, conflict }: Insert, values: unknown[]): string {
  const isOne = rows.length === 1;
  const given = Object.values(columns).map((type, column) => {
    const elements = rows.map((row) => row[column]);
    values.push(isOne ? elements[0] : encodeArray(type, elements));
    return `$${values.length}::${type}${isOne ? "" : "[]"}`;
  });
  const source = isOne ? `${given.join(", ")} from moved` : `u.* from moved, unnest(${given.join(", ")}) as u`;
  return `insert into ${table} (${Object.keys(columns).join(", ")}) select ${source} ${conflict}`;
}

function insertEvents(staged: readonly StagedEvent[]): Insert {
  const rows = staged.map(({ event, text }) => {
    const { pos, session, seq, epoch, at, type, v, prev, hash } = event;
    const naming = session === SHARED ? (namedSession(event) ?? null) : null;
    return [pos, session, seq, epoch, at, type, v, text, prev, hash, callOf(event) ?? null, naming];
  });
  return { table: "events", columns: EVENTS, rows, conflict: "" };
}

function insertContents(staged: readonly StagedEvent[]): readonly Insert[] {
  const blobs = new Map<string, Uint8Array>();
  const uses = new Map<string, readonly unknown[]>();
  for (const { event, blobs: own, lent } of staged) {
    for (const { sha, bytes } of own) blobs.set(sha, bytes);
    for (const sha of [...own.map((blob) => blob.sha), ...lent]) uses.set(`${event.session} ${sha}`, [event.session, sha]);
  }
  return [
    {
      table: "blobs",
      columns: { sha: "text", bytes: "bytea" },
      rows: [...blobs].map(([sha, bytes]) => [sha, Buffer.from(bytes)]),
      conflict: "on conflict (sha) do update set bytes = excluded.bytes where blobs.bytes <> excluded.bytes", // repairs a damaged blob
    },
    {
      table: "blob_uses",
      columns: { session: "text", sha: "text" },
      rows: [...uses.values()],
      conflict: "on conflict do nothing",
    },
  ];
}

/** Finds the events that record the start of a process. */
function insertProcesses(staged: readonly StagedEvent[]): Insert {
  const rows = staged.flatMap(({ event }) => processesOf(event).map((pid) => [pid, event.pos]));
  return { table: "processes", columns: { pid: "bigint", pos: "bigint" }, rows, conflict: "on conflict do nothing" };
}

/** Lists the processes whose start an event records. */
export function processesOf({
  type,
  body,
}: {
  readonly type: string;
  readonly body: Readonly<Record<string, Json | undefined>>;
}): readonly number[] {
  if (type !== "call.started" && type !== "task.process") return [];
  const others = Array.isArray(body["others"]) ? body["others"] : [];
  return [body, ...others].map((one) => (isObject(one) ? one["pid"] : undefined)).filter((pid) => typeof pid === "number");
}

function insertChains({ chains }: LoadedRows): Insert {
  const rows = [...chains.changes().values()].map(
    ({ session, seq, hash, pos, first, epoch, policySeq, newestAt, closed, pruned, holder, row }) => [
      ...[session, seq, hash, pos, first, epoch, policySeq, newestAt, Number(closed), Number(pruned)],
      ...[holder && JSON.stringify(holder), row && JSON.stringify(row)],
    ],
  );
  const updates = Object.keys(SESSIONS).filter((name) => name !== "session" && name !== "first");
  return { table: "sessions", columns: SESSIONS, rows, conflict: `on conflict (session) do update set ${setExcluded(updates)}` };
}

function setExcluded(names: readonly string[]): string {
  return names.map((name) => `${name} = excluded.${name}`).join(", ");
}

function insertLists(rows: LoadedRows): readonly Insert[] {
  return [
    insertList("approvals", rows.approvals.changes()),
    insertList("grants", rows.grants.changes()),
    insertList("proposals", rows.proposals.changes()),
    insertList("questions", rows.questions.changes()),
  ];
}

function insertList<K extends keyof ListRows>(table: K, changes: ReadonlyMap<string, ListEntry<ListRows[K]>>): Insert {
  const { column, value } = SEARCH_COLUMN[table];
  const rows = [...changes].map(([id, { row, first, latest }]) => [
    ...[id, first, latest, row.session ?? null, value(row)],
    ...[Number(IS_OPEN[table](row)), JSON.stringify(row)],
  ]);
  const columns: Columns = {
    ...{ id: "text", first: "bigint", latest: "bigint", session: "text" },
    ...{ [column]: "text", open: "smallint", row: "text" },
  };
  return { table, columns, rows, conflict: `on conflict (id) do update set ${setExcluded(["latest", "open", "row"])}` };
}
