import { type Database, type Query, query } from "../database/database.ts";
import { readUntilMalformed } from "../database/malformed.ts";
import { EVENT_COLUMNS, type EventColumns } from "../rows/event-columns.ts";
import { NO_HASH } from "../write/chain.ts";
import { type Finding, finding } from "./finding.ts";
import { wrongLink } from "./scan.ts";

/** Reports where each chain of a malformed file breaks off. */
export function locateDamage(database: Database, store: string): readonly Finding[] {
  const sessions = query<{ session: string }>(database, "select session from sessions");
  const chain = query<EventColumns>(database, `select ${EVENT_COLUMNS} from events where session = ? order by seq`);
  const found: Finding[] = [finding("store_corrupt", {}, "The database file is damaged.")];
  const names = [
    ...readUntilMalformed(
      () => sessions.iterate(),
      () => undefined,
    ),
  ];
  for (const { session } of names) {
    const broken = firstBroken(chain, store, session);
    if (broken) found.push(broken);
  }
  return found;
}

function firstBroken(chain: Query<EventColumns>, store: string, session: string): Finding | undefined {
  let good = { seq: 0, hash: NO_HASH, epoch: 0 };
  let found: Finding | undefined;
  const broken = (): void => {
    found = finding("store_corrupt", { session, seq: good.seq + 1 }, "The database file is damaged here.");
  };
  for (const row of readUntilMalformed(() => chain.iterate(session), broken)) {
    found = wrongLink(store, good, row);
    if (found) break;
    good = { seq: row.seq, hash: row.hash, epoch: row.epoch };
  }
  return found;
}
