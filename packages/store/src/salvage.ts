import { rmSync } from "node:fs";
import { type EventBodies, SHARED } from "@assent/core";
import { type Database, query, transact } from "./database.ts";
import { untilMalformed } from "./malformed.ts";
import { SCHEMA, SCHEMA_VERSION } from "./schema.ts";
import { createPrivateFile } from "./state-directory.ts";
import { corrupt } from "./store-error.ts";

const EVENT_ROW = "pos, session, seq, epoch, at, type, v, body, prev, hash, call, naming";

type EventRow = Readonly<Record<string, string | number | null>>;

/**
 * Brings whatever can still be read out of a malformed file and puts it back into the same file, so that nobody who has it open is left with another.
 * The lists are not brought along, and no chain is checked: that is for the repair that follows.
 */
export async function salvage(damaged: Database, { file, aside }: { readonly file: string; readonly aside: string }): Promise<void> {
  const { backup, DatabaseSync } = await import("node:sqlite");
  rmSync(aside, { force: true });
  createPrivateFile(aside);
  const fresh = new DatabaseSync(aside);
  try {
    fresh.exec(`pragma journal_mode=off; pragma synchronous=off; ${SCHEMA}; pragma user_version=${SCHEMA_VERSION}`);
    transact(fresh, () => copyReadable(damaged, fresh));
    await backup(fresh, file);
  } finally {
    fresh.close();
    rmSync(aside, { force: true });
  }
}

function copyReadable(damaged: Database, fresh: Database): void {
  copyEvents(damaged, fresh);
  copyRows(damaged, fresh, { table: "blobs", columns: ["sha", "bytes"] });
  copyRows(damaged, fresh, { table: "blob_uses", columns: ["session", "sha"] });
  copyRows(damaged, fresh, { table: "meta", columns: ["key", "value"] });
  query(fresh, "insert or ignore into meta (key, value) values ('store', ?)").run(storeIdIn(fresh));
}

/** From both ends of the table, and along the index of each chain: a damaged page is seldom on all three ways. */
function copyEvents(damaged: Database, fresh: Database): void {
  const insert = query(fresh, `insert or ignore into events (${EVENT_ROW}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const keep = (rows: Iterable<EventRow>): void => {
    for (const row of rows) insert.run(...Object.values(row));
  };
  const read = (sql: string, ...values: string[]): Iterable<EventRow> =>
    untilMalformed(
      () => query<EventRow>(damaged, `select ${EVENT_ROW} from events ${sql}`).iterate(...values),
      () => undefined,
    );
  keep(read("order by pos"));
  keep(read("order by pos desc"));
  const known = query<{ session: string }>(fresh, "select distinct session from events").all();
  const listed = untilMalformed(
    () => query<{ session: string }>(damaged, "select session from sessions").iterate(),
    () => undefined,
  );
  for (const session of new Set([...known, ...listed].map((row) => row.session))) {
    keep(read("where session = ? order by seq", session));
    keep(read("where session = ? order by seq desc", session));
  }
}

type Copied = { readonly table: string; readonly columns: readonly [string, string] };

function copyRows(damaged: Database, fresh: Database, { table, columns: [key, value] }: Copied): void {
  const insert = query(fresh, `insert or ignore into ${table} (${key}, ${value}) values (?, ?)`);
  for (const order of ["asc", "desc"]) {
    const rows = query<Readonly<Record<string, string | Uint8Array>>>(
      damaged,
      `select ${key}, ${value} from ${table} order by ${key} ${order}`,
    );
    for (const row of untilMalformed(
      () => rows.iterate(),
      () => undefined,
    ))
      insert.run(row[key] ?? null, row[value] ?? null);
  }
}

/** The first event of the shared chain says the store's id, too. */
function storeIdIn(fresh: Database): string {
  const first = query<{ body: string }>(fresh, `select body from events where session = '${SHARED}' and seq = 1`).get();
  if (!first) throw corrupt("Neither the id nor the first record of the ledger can be read.", {});
  // Parsing: the store wrote the body.
  return (JSON.parse(first.body) as EventBodies["store.created"]).store;
}
