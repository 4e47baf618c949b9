/** The version of the tables this program writes, as `PRAGMA user_version`. */
export const SCHEMA_VERSION = 1;

/**
 * Events are the record; `sessions`, `approvals` and `grants` are lists folded from them in the same transaction, and can be made again from them.
 * `row` columns hold JSON.
 */
export const SCHEMA = `
create table meta (key text primary key, value text not null) strict, without rowid;

create table events (
  pos integer primary key,
  session text not null,
  seq integer not null,
  epoch integer not null,
  at text not null,
  type text not null,
  v integer not null,
  body text not null,
  prev text not null,
  hash text not null,
  call text,
  naming text
) strict;
create unique index events_chain on events (session, seq);
create index events_call on events (session, call, pos) where call is not null;
create index events_naming on events (naming, pos) where naming is not null;

create table sessions (
  session text primary key,
  seq integer not null,
  hash text not null,
  pos integer not null,
  first integer not null,
  epoch integer not null,
  policy_seq integer not null,
  newest_at text not null,
  closed integer not null,
  pruned integer not null,
  holder text,
  row text
) strict, without rowid;
create index sessions_order on sessions (first);

create table approvals (
  id text primary key,
  first integer not null,
  latest integer not null,
  session text not null,
  tool text not null,
  open integer not null,
  row text not null
) strict;
create index approvals_order on approvals (first);
create index approvals_open on approvals (first) where open = 1;
create index approvals_session on approvals (session, first);

create table grants (
  id text primary key,
  first integer not null,
  latest integer not null,
  session text,
  tool text not null,
  open integer not null,
  row text not null
) strict;
create index grants_order on grants (first);

create table snapshots (session text primary key, seq integer not null, hash text not null, version integer not null, state text not null) strict;

create table blobs (sha text primary key, bytes blob not null) strict;
create table blob_uses (session text not null, sha text not null, primary key (session, sha)) strict, without rowid;
create index blob_uses_sha on blob_uses (sha);
`;
