/** Kept in `meta`. */
export const SCHEMA_VERSION = 1;

const LIST = (table: string, column: string, session: string): string => `
create table ${table} (
  id text collate "C" primary key,
  first bigint not null,
  latest bigint not null,
  session text collate "C"${session},
  ${column} text collate "C" not null,
  open smallint not null,
  row text not null
);
create index ${table}_order on ${table} (first);
create index ${table}_open on ${table} (first) where open = 1;
create index ${table}_session on ${table} (session, first);
`;

/**
 * The columns are those of the ledger on SQLite, so that a ledger can be copied either way. \`events\` is the record; lists can be made again from it. Every
 * commit locks the row of \`counter\`: with a sequence, a reader could miss an event whose commit came later than that of its successor.
 */
export const SCHEMA: string = `
create table meta (key text primary key, value text not null);
create table counter (one boolean primary key default true check (one), pos bigint not null, newest_at text collate "C" not null default '');

create table events (
  pos bigint primary key,
  session text collate "C" not null,
  seq bigint not null,
  epoch bigint not null,
  at text collate "C" not null,
  type text collate "C" not null,
  v integer not null,
  body text not null,
  prev text collate "C" not null,
  hash text collate "C" not null,
  call text collate "C",
  naming text collate "C"
);
create unique index events_chain on events (session, seq);
create index events_call on events (session, call, pos) where call is not null;
create index events_naming on events (naming, pos) where naming is not null;
create index events_rare_type on events (type, pos) where type < 'call.' or type > 'call/';

create table processes (pid bigint not null, pos bigint not null, primary key (pid, pos));

create table sessions (
  session text collate "C" primary key,
  seq bigint not null,
  hash text not null,
  pos bigint not null,
  first bigint not null,
  epoch bigint not null,
  policy_seq bigint not null,
  newest_at text collate "C" not null,
  closed smallint not null,
  pruned smallint not null,
  holder text,
  row text
) with (fillfactor = 70);
create index sessions_order on sessions (first);

create table leases (
  session text collate "C" primary key,
  epoch bigint not null,
  held_until timestamptz not null,
  busy boolean not null
) with (fillfactor = 70);
${LIST("approvals", "tool", " not null")}${LIST("grants", "tool", "")}${LIST("proposals", "tool", " not null")}${LIST("questions", "call", " not null")}
create index questions_call on questions (session, call) where open = 1;

create table pruned_claims (pos bigint primary key, hash text not null);

create table snapshots (session text collate "C" primary key, seq bigint not null, hash text not null, version integer not null, state text not null);
create table blobs (sha text collate "C" primary key, bytes bytea not null);
create table blob_uses (session text collate "C" not null, sha text collate "C" not null, primary key (session, sha));
create index blob_uses_sha on blob_uses (sha);
`;
