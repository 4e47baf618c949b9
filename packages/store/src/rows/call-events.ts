import { parseEvent } from "@assent/core";
import { type Database, query } from "../database/database.ts";
import { EVENT_COLUMNS, type EventColumns, toStoredEvent } from "./event-columns.ts";
import { asksPerson } from "./lists.ts";

export type CallEventReader = (session: string, call: string) => readonly EventColumns[];

export function makeCallEventReader(database: Database): CallEventReader {
  const indexed = query<EventColumns>(database, `select ${EVENT_COLUMNS} from events where session = ? and call = ? order by pos`);
  const unindexed = query<EventColumns>(
    database,
    `select ${EVENT_COLUMNS} from events where session = ? and seq > ? and seq < ? and call is null and json_extract(body, '$.call') = ?
     order by seq`,
  );
  return (session, call) => {
    const listed = indexed.all(session, call);
    const proposed = listed.find(({ type }) => type === "call.proposed");
    if (!proposed) return listed;
    const complete = listed.find(isComplete)?.seq ?? Number.MAX_SAFE_INTEGER;
    const others: EventColumns[] = [];
    for (const row of unindexed.iterate(session, proposed.seq, complete, call)) {
      others.push(row);
      if (row.type === "call.ended") break;
    }
    return others.length === 0 ? listed : [...listed, ...others].sort((one, other) => one.seq - other.seq);
  };
}

/** True if the index has all later events of the call. */
function isComplete(columns: EventColumns): boolean {
  if (columns.type === "call.ended" || columns.type === "approval.opened") return true;
  const event = columns.type === "call.judged" ? parseEvent(toStoredEvent(columns)) : undefined;
  return event !== undefined && asksPerson(event);
}
