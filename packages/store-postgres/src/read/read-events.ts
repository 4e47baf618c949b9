import { type Cursor, callOf, type EventFilter, LedgerError, recordsProcess, type StoredEvent } from "@assent/core";
import { checkEvent, checkLink, type EventColumns } from "@assent/store/parts";
import type { Connection } from "../connect/connection.ts";
import type { Link } from "../connect/link.ts";
import { EVENT_SELECT } from "../rows/load-rows.ts";

/** Reads on from where it stopped; an empty page means that there is no more event up to this position yet. */
export type EventPages = { readonly next: (until: number) => Promise<readonly StoredEvent[]> };

/** Many readers want only the first event of a chain. */
const FIRST_ROWS = 16;
const PAGE_ROWS = 256;

type ReadPlace = {
  pos: number;
  /** Of the chain that is read. */
  seq: number;
  hash: string | undefined;
};

/** An event that was read, and the place after it. Without `found`, it cannot be compared. */
type ReadStep = Readonly<ReadPlace> & { readonly found: string | undefined };

/** A server that crashes loses what it committed without sync in its last second, at most. */
const MOST_STEPS = 1_000;

type Selection = { readonly text: string; readonly values: readonly unknown[] };

/** Throws `cursor_ahead` if the ledger is shorter. Checks each event's hash, and the links of a chain (`store_corrupt`). */
export async function openPages(link: Link, store: string, from: Cursor, filter: EventFilter): Promise<EventPages> {
  const session = filter.session ?? ("session" in from && filter.naming === undefined ? from.session : undefined);
  const begun = await findPlace(link, from, session);
  const place: ReadPlace = { ...begun };
  let isFirst = true;
  let steps: readonly ReadStep[] = [begun];
  let used: Connection | undefined;
  const readRows = async (until: number): Promise<readonly EventColumns[]> => {
    const limit = isFirst ? FIRST_ROWS : PAGE_ROWS;
    const { rows } = await link.run(async (connection) => {
      if (used !== undefined && used !== connection) {
        steps = await stepsLeft(connection, steps);
        const { pos, seq, hash } = steps.at(-1) ?? begun;
        Object.assign(place, { pos, seq, hash });
      }
      used = connection;
      const { text, values } = selectPage({ ...filter, ...(session !== undefined && { session }) }, place, limit);
      return connection.query<EventColumns>(text, values);
    });
    isFirst = false;
    return rows.filter(({ pos }) => pos <= until);
  };
  return {
    next: async (until) => {
      for (;;) {
        const rows = await readRows(until);
        if (rows.length === 0) return [];
        const events: StoredEvent[] = [];
        const read: ReadStep[] = [];
        for (const row of rows) {
          if (row.session === session && filter.call === undefined) {
            checkLink({ seq: place.seq + 1, hash: place.hash }, row);
            Object.assign(place, { seq: row.seq, hash: row.hash });
          }
          const event = checkEvent(row, store);
          place.pos = row.pos;
          read.push({ ...place, found: row.hash });
          if (isWanted(event, filter)) events.push(event);
        }
        steps = [...steps, ...read].slice(-MOST_STEPS);
        if (events.length > 0) return events;
      }
    },
  };
}

/** Without the events at the end that a server lost when it crashed: others are stored in their place. */
async function stepsLeft(connection: Connection, steps: readonly ReadStep[]): Promise<readonly ReadStep[]> {
  const { rows } = await connection.query<{ readonly pos: number; readonly hash: string }>(
    "select pos, hash from events where pos = any($1::bigint[])",
    [steps.map(({ pos }) => pos)],
  );
  const hashes = new Map(rows.map(({ pos, hash }) => [pos, hash]));
  const last = steps.findLastIndex(({ pos, found }) => found === undefined || hashes.get(pos) === found);
  if (last < 0)
    throw new LedgerError("cursor_ahead", "The server lost the events that were read. Read again from 0.", { head: rows.at(-1)?.pos ?? 0 });
  return steps.slice(0, last + 1);
}

type FoundPlace = { readonly head: number | null; readonly pos: number | null; readonly found: string | null };

async function findPlace(link: Link, from: Cursor, session: string | undefined): Promise<ReadStep> {
  const { rows } = await link.run((connection) =>
    "session" in from
      ? connection.query<FoundPlace>(
          `select (select max(seq) from events where session = $1) as head, e.pos, e.hash as found
           from (select) as one left join events e on e.session = $1 and e.seq = $2`,
          [from.session, from.seq],
        )
      : connection.query<FoundPlace>(
          "select c.pos as head, $1::bigint as pos, (select hash from events where pos = $1::bigint) as found from counter c",
          [from.pos],
        ),
  );
  const head = rows[0]?.head ?? 0;
  if (("session" in from ? from.seq : from.pos) > head)
    throw new LedgerError("cursor_ahead", "The cursor is ahead of this ledger. Read again from 0.", { head });
  const pos = rows[0]?.pos ?? 0;
  const found = rows[0]?.found ?? undefined;
  if (session === undefined || pos === 0) return { pos, seq: 0, hash: undefined, found };
  const { rows: before } = await link.run((connection) =>
    connection.query<{ readonly seq: number }>("select seq from events where session = $1 and pos <= $2 order by seq desc limit 1", [
      session,
      pos,
    ]),
  );
  return { pos, seq: before[0]?.seq ?? 0, hash: undefined, found };
}

function selectPage(filter: EventFilter, { pos, seq }: ReadPlace, limit: number): Selection {
  const { session, naming, call, types, process } = filter;
  const values: unknown[] = [];
  const put = (value: unknown): string => `$${values.push(value)}`;
  const select = (condition: string, order: string): string =>
    `(select ${EVENT_SELECT} from events e where ${condition} order by ${order} limit ${limit})`;
  const parts: string[] = [];
  if (session !== undefined && call === undefined) parts.push(select(`session = ${put(session)} and seq > ${put(seq)}`, "seq"));
  if (session !== undefined && call !== undefined)
    parts.push(select(`session = ${put(session)} and call = ${put(call)} and pos > ${put(pos)}`, "pos"));
  if (naming !== undefined) parts.push(select(`naming = ${put(naming)} and pos > ${put(pos)}`, "pos"));
  if (parts.length === 0) parts.push(select(`${inStore(types, process, put)} and pos > ${put(pos)}`, "pos"));
  const [only] = parts;
  const text = parts.length === 1 && only ? only : `${parts.join(" union all ")} order by pos limit ${limit}`;
  return { text, values };
}

/** The index of types leaves out those that every call writes. */
function inStore(types: readonly string[] | undefined, process: number | undefined, put: (value: unknown) => string): string {
  if (process !== undefined) return `pos in (select pos from processes where pid = ${put(process)})`;
  if (types === undefined) return "true";
  const isRare = types.every((type) => !type.startsWith("call."));
  return `type = any(${put(types)})${isRare ? " and (type < 'call.' or type > 'call/')" : ""}`;
}

function isWanted(event: StoredEvent, { types, call, process }: EventFilter): boolean {
  if (types && !types.includes(event.type)) return false;
  return (call === undefined || callOf(event) === call) && (process === undefined || recordsProcess(event, process));
}
