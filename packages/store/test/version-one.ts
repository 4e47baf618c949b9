import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** The tables as the first version of the store made them. */
const SCHEMA_1 = `
create table meta (key text primary key, value text not null) strict, without rowid;
create table events (
  pos integer primary key, session text not null, seq integer not null, epoch integer not null, at text not null, type text not null,
  v integer not null, body text not null, prev text not null, hash text not null, call text, naming text
) strict;
create unique index events_chain on events (session, seq);
create index events_call on events (session, call, pos) where call is not null;
create index events_naming on events (naming, pos) where naming is not null;
create table sessions (
  session text primary key, seq integer not null, hash text not null, pos integer not null, first integer not null, epoch integer not null,
  policy_seq integer not null, newest_at text not null, closed integer not null, pruned integer not null, holder text, row text
) strict, without rowid;
create index sessions_order on sessions (first);
create table approvals (
  id text primary key, first integer not null, latest integer not null, session text not null, tool text not null, open integer not null,
  row text not null
) strict;
create index approvals_order on approvals (first);
create index approvals_open on approvals (first) where open = 1;
create index approvals_session on approvals (session, first);
create table grants (
  id text primary key, first integer not null, latest integer not null, session text, tool text not null, open integer not null, row text not null
) strict;
create index grants_order on grants (first);
create table snapshots (session text primary key, seq integer not null, hash text not null, version integer not null, state text not null) strict;
create table blobs (sha text primary key, bytes blob not null) strict;
create table blob_uses (session text not null, sha text not null, primary key (session, sha)) strict, without rowid;
create index blob_uses_sha on blob_uses (sha);
pragma user_version=1;
`;

const TABLES = ["meta", "events", "sessions", "approvals", "grants", "snapshots", "blobs", "blob_uses"];

/** Puts what a closed store holds into tables of the first version, in the same file. */
export function intoVersionOne(directory: string): void {
  const database = new DatabaseSync(join(directory, "ledger.db"));
  try {
    const kept = TABLES.map((table) => [table, database.prepare(`select * from ${table}`).all()] as const);
    const names = database.prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'").all();
    for (const { name } of names) database.exec(`drop table ${name}`);
    database.exec(SCHEMA_1);
    for (const [table, rows] of kept) {
      for (const row of rows) {
        const places = Object.keys(row).map(() => "?");
        database.prepare(`insert into ${table} (${Object.keys(row).join(", ")}) values (${places.join(", ")})`).run(...Object.values(row));
      }
    }
    database.exec("vacuum");
  } finally {
    database.close();
  }
}
