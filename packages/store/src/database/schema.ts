/** Stored as `PRAGMA user_version`. */
export const SCHEMA_VERSION = 6;

/** Excludes `call.…`, which every call writes. Queries repeat this text, or SQLite ignores the partial index. */
export const IS_RARE_TYPE = "(type < 'call.' or type > 'call/')";

/** Which events record the start of which process. Triggers keep it right for every write and delete. */
const PROCESSES = `
create table processes (pid integer not null, pos integer not null, primary key (pid, pos)) strict, without rowid;
create trigger process_recorded after insert on events when new.type = 'call.started' or new.type = 'task.process' begin
  insert or ignore into processes select json_extract(new.body, '$.pid'), new.pos;
  insert or ignore into processes select json_extract(value, '$.pid'), new.pos from json_each(new.body, '$.others');
end;
create trigger process_deleted after delete on events when (old.type = 'call.started' or old.type = 'task.process') and json_valid(old.body) begin
  delete from processes where pid = json_extract(old.body, '$.pid') and pos = old.pos;
  delete from processes where pos = old.pos and pid in (select json_extract(value, '$.pid') from json_each(old.body, '$.others'));
end;
`;

export const FILL_PROCESSES = `
insert or ignore into processes select json_extract(body, '$.pid'), pos from events where type in ('call.started', 'task.process');
insert or ignore into processes
  select json_extract(other.value, '$.pid'), pos from events, json_each(body, '$.others') as other where events.type in ('call.started', 'task.process');
`;

/** `events` is the record; other tables can be rebuilt from it. `blob_uses` says which sessions need which blob. */
export const SCHEMA: string = `
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
create index events_rare_type on events (type) where ${IS_RARE_TYPE};
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

create table proposals (
  id text primary key,
  first integer not null,
  latest integer not null,
  session text not null,
  tool text not null,
  open integer not null,
  row text not null
) strict;
create index proposals_order on proposals (first);
create index proposals_open on proposals (first) where open = 1;
create index proposals_session on proposals (session, first);

create table questions (
  id text primary key,
  first integer not null,
  latest integer not null,
  session text not null,
  call text not null,
  open integer not null,
  row text not null
) strict;
create index questions_order on questions (first);
create index questions_open on questions (first) where open = 1;
create index questions_session on questions (session, first);
create index questions_call on questions (session, call) where open = 1;

create table snapshots (session text primary key, seq integer not null, hash text not null, version integer not null, state text not null) strict;

create table blobs (sha text primary key, bytes blob not null) strict;
create table blob_uses (session text not null, sha text not null, primary key (session, sha)) strict, without rowid;
create index blob_uses_sha on blob_uses (sha);
${PROCESSES}`;
