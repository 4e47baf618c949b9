import { type Cursor, callOf, type EventFilter, LedgerError, recordsProcess, type StoredEvent } from "@assent/core";
import { type Database, type Query, query } from "../database/database.ts";
import { isMalformed } from "../database/malformed.ts";
import { IS_RARE_TYPE } from "../database/schema.ts";
import { malformedFile, storeCorrupt } from "../files/store-error.ts";
import { makeCallEventReader } from "../rows/call-events.ts";
import { EVENT_COLUMNS, type EventColumns, isEventRow, toStoredEvent } from "../rows/event-columns.ts";
import { chainHash } from "../write/chain.ts";

const PAGE_ROWS = 512;
/** Many readers want only the first event of a chain. */
const FIRST_ROWS = 8;
const PAGE_CHARS = 4_194_304;

/** Undefined if there is no event up to this position yet. */
export type EventReader = (until: number) => StoredEvent | undefined;

/** Checks each event's hash (`store_corrupt`). */
export type EventReads = {
  /** Throws `cursor_ahead` if the store is shorter. */
  readonly reader: (from: Cursor, filter: EventFilter) => EventReader;
  readonly at: (pos: number) => StoredEvent | undefined;
  /** Looks in the shared chain. */
  readonly newestNaming: (name: string) => StoredEvent | undefined;
  readonly head: () => number;
};

/** Reads in pages, so no read transaction outlives a call. */
export function makeEventReads(database: Database, store: string): EventReads {
  const byPos = query<EventColumns>(database, `select ${EVENT_COLUMNS} from events where pos > ? order by pos limit ${PAGE_ROWS}`);
  const byChain = query<EventColumns>(
    database,
    `select ${EVENT_COLUMNS} from events where session = ? and seq > ? order by seq limit ${PAGE_ROWS}`,
  );
  const byNaming = query<EventColumns>(
    database,
    `select ${EVENT_COLUMNS} from events where naming = ? and pos > ? order by pos limit ${PAGE_ROWS}`,
  );
  const ofCall = makeCallEventReader(database);
  const byType = query<EventColumns>(
    database,
    `select ${EVENT_COLUMNS} from events where type = ? and pos > ? and ${IS_RARE_TYPE} order by pos limit ${PAGE_ROWS}`,
  );
  const byProcess = query<EventColumns>(
    database,
    `select ${EVENT_COLUMNS} from events where pos in (select pos from processes where pid = ?) and pos > ? order by pos limit ${PAGE_ROWS}`,
  );
  const one = query<EventColumns>(database, `select ${EVENT_COLUMNS} from events where pos = ?`);
  const lastNaming = query<EventColumns>(database, `select ${EVENT_COLUMNS} from events where naming = ? order by pos desc limit 1`);
  const newest = query<{ pos: number | null }>(database, "select max(pos) as pos from events");
  const place = query<{ pos: number; seq: number }>(database, "select pos, seq from events where session = ? and seq = ?");
  const last = query<{ seq: number | null }>(database, "select max(seq) as seq from events where session = ?");
  const head = (): number => newest.get()?.pos ?? 0;
  /** Uses an index only for the events of one call. */
  const inSession = (session: string, call: string | undefined, after: number): RowSource =>
    call === undefined
      ? chainSource(byChain, session, sequenceBefore(after, session, { place, last }))
      : pagedSource((row) => ({ rows: ofCall(session, call).filter(({ pos }) => pos > (row?.pos ?? after)), more: false }));
  const inStore = ({ types, process }: EventFilter, after: number): readonly RowSource[] => {
    if (process !== undefined) return [pagedSource((row) => readPage(byProcess, [process, row?.pos ?? after]))];
    return types?.every((type) => !type.startsWith("call."))
      ? [...new Set(types)].map((type) => pagedSource((row) => readPage(byType, [type, row?.pos ?? after])))
      : [pagedSource((row) => readPage(byPos, [row?.pos ?? after]))];
  };
  const reader = (from: Cursor, filter: EventFilter): EventReader => {
    const after = positionOf(from, { head, place, last });
    const session = filter.session ?? ("session" in from && filter.naming === undefined ? from.session : undefined);
    const chain = session === undefined ? [] : [inSession(session, filter.call, after)];
    const { naming } = filter;
    const named = naming === undefined ? [] : [pagedSource((row) => readPage(byNaming, [naming, row?.pos ?? after]))];
    const all = session === undefined && naming === undefined ? inStore(filter, after) : [];
    const sources = [...chain, ...named, ...all];
    return (until) => nextWanted(sources, until, filter, store);
  };
  const checked = (row: EventColumns | undefined): StoredEvent | undefined => row && checkEvent(row, store);
  return {
    reader,
    head,
    at: (pos) => checked(one.get(pos)),
    newestNaming: (name) => checked(lastNaming.get(name)),
  };
}

type PositionQueries = {
  readonly head: () => number;
  readonly place: Query<{ pos: number; seq: number }>;
  readonly last: Query<{ seq: number | null }>;
};

function positionOf(from: Cursor, { head, place, last }: PositionQueries): number {
  const end = "session" in from ? (last.get(from.session)?.seq ?? 0) : head();
  const wanted = "session" in from ? from.seq : from.pos;
  if (wanted > end) throw new LedgerError("cursor_ahead", "The cursor is ahead of this ledger. Read again from 0.", { head: end });
  return "session" in from ? (place.get(from.session, from.seq)?.pos ?? 0) : from.pos;
}

/** Bisects. */
function sequenceBefore(pos: number, session: string, { place, last }: Omit<PositionQueries, "head">): number {
  let low = 0;
  let high = pos === 0 ? 0 : (last.get(session)?.seq ?? 0);
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((place.get(session, middle)?.pos ?? 0) <= pos) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** `peek` does not consume; rows beyond `until` wait. */
type RowSource = { peek(until: number): EventColumns | undefined; take(): void };

type RowPage = { readonly rows: readonly EventColumns[]; readonly more: boolean };

function readPage(statement: Query<EventColumns>, values: readonly (string | number)[], most: number = PAGE_ROWS): RowPage {
  const rows: EventColumns[] = [];
  let chars = 0;
  try {
    for (const row of statement.iterate(...values)) {
      if (!isEventRow(row)) throw storeCorrupt("A row of the ledger is no event.", {});
      rows.push(row);
      chars += row.body.length;
      if (chars > PAGE_CHARS || rows.length === most) return { rows, more: true };
    }
  } catch (error) {
    if (!isMalformed(error) || rows.length === 0) throw error;
    return { rows, more: true }; // return the readable rows first
  }
  return { rows, more: false };
}

function pagedSource(load: (last: EventColumns | undefined) => RowPage): RowSource {
  let page: RowPage = { rows: [], more: true };
  let index = 0;
  let last: EventColumns | undefined;
  let loadedFor = 0;
  return {
    peek: (until) => {
      if (index === page.rows.length && (page.more || loadedFor < until)) {
        page = load(last);
        index = 0;
        loadedFor = until;
      }
      const row = page.rows[index];
      return row && row.pos <= until ? row : undefined;
    },
    take: () => {
      last = page.rows[index];
      index += 1;
    },
  };
}

/** Reads in order, so that a missing or exchanged row is noticed. */
function chainSource(statement: Query<EventColumns>, session: string, after: number): RowSource {
  let expected: ExpectedLink = { seq: after + 1, hash: undefined };
  let isFirst = true;
  const source = pagedSource(() => {
    try {
      const page = readPage(statement, [session, expected.seq - 1], isFirst ? FIRST_ROWS : PAGE_ROWS);
      isFirst = false;
      return page;
    } catch (error) {
      throw isMalformed(error)
        ? malformedFile(`Event ${expected.seq} of ${session} is on a damaged page of the database file.`, { session, seq: expected.seq })
        : error;
    }
  });
  return {
    peek: (until) => {
      const row = source.peek(until);
      if (!row) return undefined;
      checkLink(expected, row);
      return row;
    },
    take: () => {
      const row = source.peek(Number.POSITIVE_INFINITY);
      if (row) expected = { seq: row.seq + 1, hash: row.hash };
      source.take();
    },
  };
}

function nextWanted(sources: readonly RowSource[], until: number, filter: EventFilter, store: string): StoredEvent | undefined {
  for (let source = earliestSource(sources, until); source; source = earliestSource(sources, until)) {
    const row = source.peek(until);
    source.take();
    if (!row || (filter.types && !filter.types.includes(row.type))) continue;
    const event = checkEvent(row, store);
    if (filter.call !== undefined && callOf(event) !== filter.call) continue;
    if (filter.process === undefined || recordsProcess(event, filter.process)) return event;
  }
  return undefined;
}

function earliestSource(sources: readonly RowSource[], until: number): RowSource | undefined {
  let first: RowSource | undefined;
  let pos = Number.POSITIVE_INFINITY;
  for (const source of sources) {
    const row = source.peek(until);
    if (!row || row.pos >= pos) continue;
    first = source;
    pos = row.pos;
  }
  return first;
}

/** The next event of a chain, and the hash of the one before it if that was read. */
type ExpectedLink = { readonly seq: number; readonly hash: string | undefined };

/** Throws `store_corrupt` if another event is expected in this chain. */
export function checkLink(expected: ExpectedLink, { session, seq, prev }: EventColumns): void {
  if (seq !== expected.seq) throw eventDamaged(session, expected.seq, "the event is missing");
  if (expected.hash !== undefined && prev !== expected.hash) throw eventDamaged(session, seq, "it does not follow the event before it");
}

/** Throws `store_corrupt` if the row is not what was stored. */
export function checkEvent(row: EventColumns, store: string): StoredEvent {
  if (chainHash({ ...row, store }) !== row.hash) throw eventDamaged(row.session, row.seq, "its content was changed");
  try {
    return toStoredEvent(row);
  } catch (error) {
    if (error instanceof SyntaxError) throw eventDamaged(row.session, row.seq, "its body is no JSON");
    throw error;
  }
}

function eventDamaged(session: string, seq: number, what: string): LedgerError {
  return storeCorrupt(`Event ${seq} of ${session} is damaged: ${what}.`, { session, seq });
}
