import { SHARED } from "@assent/core";

/** What each database role may do; see docs/operations.md. */
export const ROLE_KINDS = ["owner", "agent", "approver", "auditor"] as const;
export type RoleKind = (typeof ROLE_KINDS)[number];

/** Marks a role as one of this ledger, so that two ledgers of one server do not share roles by accident. */
export function roleComment(kind: RoleKind, store: string): string {
  return `Assent: ${kind} of the ledger ${store}`;
}

export type RolesPlace = { readonly schema: string; readonly prefix: string; readonly store: string };

const OWNED = ["meta", "counter", "events", "processes", "sessions", "leases", "approvals", "grants", "proposals", "questions"];
const TABLES: readonly string[] = [...OWNED, "pruned_claims", "snapshots", "blobs", "blob_uses"];

/** The owner of a session is a column that only the table's owner may write. */
const SESSION_COLUMNS = "session, seq, hash, pos, first, epoch, policy_seq, newest_at, closed, pruned, holder, row";

const GRANTS: readonly (readonly [to: readonly RoleKind[], rights: string, on: readonly string[]])[] = [
  [["agent", "approver", "auditor"], "select", TABLES],
  [["agent", "approver"], "insert", ["events", "blobs", "blob_uses"]],
  [["agent", "approver"], "insert, update", ["meta", "approvals", "grants", "proposals", "questions"]],
  [["agent", "approver"], "update", ["counter", "blobs"]],
  [["agent", "approver"], `insert (${SESSION_COLUMNS}), update (${SESSION_COLUMNS})`, ["sessions"]],
  [["agent"], "insert, update", ["leases", "snapshots"]],
  [["agent"], "insert", ["processes"]],
];

/** Events that a person or the runtime of any process adds to the shared chain. */
const STORE_EVENTS = ["store.epoch", "session.registered", "store.snapshot"];
const AGENT_SHARED = ["approval.closed", "grant.used", "notification.sent", ...STORE_EVENTS, "store.checkpoint", "store.restored"];
const APPROVER_SHARED = [
  "approval.answered",
  "approval.closed",
  "grant.created",
  "grant.revoked",
  "proposal.requested",
  "cancel.requested",
  "question.answered",
  "notification.sent",
];

/** An agent closes its own questions. */
const CLOSED_QUESTION = `new.type = 'question.answered' and as_json(new.body)->>'outcome' in ('expired', 'cancelled')`;

/** Deadlines count from the newest event, so one from the far future would end all of them. If there is one already, as after a wrong clock, its time is used again. */
const SOON = `to_char((clock_timestamp() + interval '1 hour') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS') collate "C"`;

const list = (values: readonly string[]): string => values.map((value) => `'${value}'`).join(", ");

/**
 * A script that creates the roles and what enforces them. It can be repeated. Triggers run with the rights of the role that writes: `current_user`
 * is that role, and the search path keeps temporary tables from hiding the ledger's.
 */
export function rolesScript({ schema, prefix, store }: RolesPlace): string {
  const role = (kind: RoleKind): string => `"${prefix}_${kind}"`;
  const is = (kind: RoleKind): string => `pg_has_role(current_user, '${prefix}_${kind}', 'usage')`;
  const create = ROLE_KINDS.map(
    (kind) => `do $$ begin if to_regrole('${role(kind)}') is null then create role ${role(kind)} nologin; end if; end $$;
comment on role ${role(kind)} is '${roleComment(kind, store)}';`,
  );
  const grants = GRANTS.flatMap(([to, rights, on]) => on.map((table) => `grant ${rights} on ${table} to ${to.map(role).join(", ")};`));
  return `begin;
set local search_path = "${schema}";
${create.join("\n")}

-- Members of ${role("owner")} own the tables, so they may migrate, prune and trust.
grant ${role("owner")} to current_user;
grant usage, create on schema "${schema}" to ${role("owner")};
grant usage on schema "${schema}" to ${ROLE_KINDS.map(role).join(", ")};
alter table sessions add column if not exists role name default current_user;
revoke all on ${TABLES.join(", ")} from public, ${[role("agent"), role("approver"), role("auditor")].join(", ")};
${grants.join("\n")}
insert into meta (key, value) values ('roles', '${prefix}') on conflict (key) do update set value = excluded.value;

${FUNCTIONS(schema, is)}
${TRIGGERS}
${TABLES.map((table) => `alter table ${table} owner to ${role("owner")};`).join("\n")}
${FUNCTION_NAMES.map((name) => `alter function ${name} owner to ${role("owner")};`).join("\n")}
commit;
`;
}

const FUNCTION_NAMES = ["as_json(text)", "is_mine(text)", "refuse(text)"].concat(
  [
    "check_event",
    "check_session",
    "check_own",
    "check_list",
    "check_shown",
    "check_grant",
    "check_counter",
    "check_meta",
    "check_blob",
  ].map((name) => `${name}()`),
);

const FUNCTIONS = (schema: string, is: (kind: RoleKind) => string): string => {
  const trigger = (name: string, body: string, declare = ""): string => `create or replace function ${name}() returns trigger
language plpgsql set search_path = pg_catalog, "${schema}", pg_temp as $$
${declare}begin
  if ${is("owner")} then return new; end if;
${body}
end $$;
`;
  return `-- jsonb has no null character.
create or replace function as_json(text) returns jsonb language sql immutable
return replace($1, '\\u0000', '\\u0001')::jsonb;

create or replace function refuse(text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise insufficient_privilege using message = format('the role %s may not %s', current_user, $1);
end $$;

-- A session belongs to the role that began it, and to the roles that are its members. A new one has no owner yet.
create or replace function is_mine(text) returns boolean
language plpgsql set search_path = pg_catalog, "${schema}", pg_temp as $$
begin
  return ${is("agent")} and not exists (
    select 1 from sessions s where s.session = $1 and pg_has_role(current_user, to_regrole(quote_ident(s.role)), 'usage') is not true);
end $$;

${trigger(
  "check_event",
  `  if new.pos <> (select coalesce(max(pos), 0) + 1 from events) then perform refuse('put an event elsewhere than at the end'); end if;
  if new.at > greatest(${SOON}, (select newest_at from counter)) then perform refuse('record an event more than an hour ahead of the clock of the database'); end if;
  if new.session = '${SHARED}' then
    if ${is("agent")} and (new.type in (${list(AGENT_SHARED)}) or ${CLOSED_QUESTION}) then return new; end if;
    if ${is("approver")} and new.type in (${list([...APPROVER_SHARED, "store.checkpoint", "store.restored"])}) then return new; end if;
  elsif is_mine(new.session) and new.naming is null and new.type not in (${list([...APPROVER_SHARED, "trust.granted", "trust.revoked"])}) then return new;
  end if;
  perform refuse(format('record %s in %s', new.type, new.session));`,
)}
-- An answer also changes two fields of how its session is listed, but nothing else of it. With a new id, a session would lose its owner.
${trigger(
  "check_session",
  `  if tg_op = 'UPDATE' and new.session <> old.session then perform refuse(format('rename session %s', old.session)); end if;
  if new.session = '${SHARED}' or is_mine(new.session) then return new; end if;
  if tg_op = 'INSERT' then
    if exists (select 1 from sessions s where s.session = new.session) then return new; end if; -- the update is checked
  elsif (to_jsonb(new) - '{row,newest_at}'::text[]) = (to_jsonb(old) - '{row,newest_at}'::text[])
    and (as_json(new.row) - '{openApprovals,updatedAt}'::text[]) is not distinct from (as_json(old.row) - '{openApprovals,updatedAt}'::text[]) then
    return new;
  end if;
  perform refuse(format('write session %s', new.session));`,
)}
${trigger(
  "check_own",
  `  if is_mine(new.session) and (tg_op = 'INSERT' or new.session = old.session) then return new; end if;
  perform refuse(format('write session %s', new.session));`,
)}
-- The arguments name the states that only a person's answer gives, and the fields that an answer or a close changes.
${trigger(
  "check_list",
  `  if tg_op = 'INSERT' then
    execute format('select as_json(l.row) from %I l where l.id = $1', tg_table_name) into was using new.id;
    if was is not null then return new; end if; -- the update is checked
    if is_mine(new.session) and (${is("approver")} or not coalesce(now->>'state' = any (answers), false)) then return new; end if;
  elsif (new.id, new.session, new.first) is not distinct from (old.id, old.session, old.first) then
    was := as_json(old.row);
    if ${is("approver")} and now - changes = was - changes then return new; end if;
    if now->>'state' = any (answers) then
      if ${is("agent")} and now - '{consumed}'::text[] = was - '{consumed}'::text[] and (now->>'consumed' is not distinct from was->>'consumed'
        or now->>'consumed' = 'true') then return new; end if;
    elsif is_mine(new.session) or (${is("agent")} and now - changes = was - changes) then return new;
    end if;
  end if;
  perform refuse(format('write %s %s', tg_table_name, new.id));`,
  `declare
  now constant jsonb := as_json(new.row);
  answers constant text[] := tg_argv[0];
  changes constant text[] := tg_argv[1];
  was jsonb;
`,
)}
-- People decide by the lists, so a row shows what its newest event says. The arguments name the event, its id, and the fields that only one of the two has.
${trigger(
  "check_shown",
  `  if tg_op = 'UPDATE' then
    if as_json(old.row) - fields = shown then return null; end if;
  end if;
  select as_json(e.body) - fields into said from events e where e.type = tg_argv[0] and e.session = new.session and as_json(e.body)->>tg_argv[1] = new.id
    and e.pos = greatest(new.first, (select max(o.pos) from events o where o.session = new.session and o.call = shown->>'call' and o.type = tg_argv[0]));
  if said - tg_argv[1] = shown - '{id,session}'::text[] and shown->>'id' = new.id and shown->>'session' = new.session then return null; end if;
  perform refuse(format('list %s of %s differently from its event', new.id, tg_table_name));`,
  `declare
  fields constant text[] := tg_argv[2];
  shown constant jsonb := as_json(new.row) - fields;
  said jsonb;
`,
)}
-- An agent only counts uses down.
${trigger(
  "check_grant",
  `  if ${is("approver")} then return new; end if;
  if tg_op = 'INSERT' then
    if exists (select 1 from grants g where g.id = new.id) then return new; end if; -- the update is checked
  elsif ${is("agent")} and (new.id, new.session, new.first) is not distinct from (old.id, old.session, old.first)
    and now - fields = was - fields and (now->>'usesLeft')::int < (was->>'usesLeft')::int and now->>'state' in (was->>'state', 'used_up') then
    return new;
  end if;
  perform refuse(format('write grant %s', new.id));`,
  `declare
  fields constant text[] := '{usesLeft,state}';
  now constant jsonb := as_json(new.row);
  was constant jsonb := case when tg_op = 'UPDATE' then as_json(old.row) end;
`,
)}
-- Runs after the statement, which also stores the events. A counter ahead of them would leave no position for others.
${trigger(
  "check_counter",
  `  if new.pos >= old.pos and new.newest_at >= old.newest_at and (new.newest_at = old.newest_at or new.newest_at <= ${SOON})
    and new.pos = (select max(pos) from events) then return null; end if;
  perform refuse('set the counter');`,
)}
${trigger(
  "check_meta",
  `  if new.key in ('place', 'checkpoint') and (tg_op = 'INSERT' or new.key = old.key) then return new; end if;
  perform refuse(format('write %s of the ledger', new.key));`,
)}
${trigger(
  "check_blob",
  `  if encode(sha256(new.bytes), 'hex') = new.sha and (tg_op = 'INSERT' or new.sha = old.sha) then return new; end if;
  perform refuse('store a value under a wrong name');`,
)}`;
};

const CHECKS: readonly (readonly [table: string, call: string])[] = [
  ["events", "check_event()"],
  ["sessions", "check_session()"],
  ["leases", "check_own()"],
  ["snapshots", "check_own()"],
  ["approvals", "check_list('{approved,rejected}', '{state,answeredBy,answeredAt,answerReason,covers,remember}')"],
  ["questions", "check_list('{answered,declined}', '{state,answers,answeredBy,answeredAt,answerReason}')"],
  ["proposals", "check_list('{}', '{requested,parked,updatedAt}')"],
  ["grants", "check_grant()"],
  ["meta", "check_meta()"],
  ["blobs", "check_blob()"],
];

/** They run after the statement, which also stores the events. */
const SHOWN: readonly (readonly [table: string, call: string])[] = [
  [
    "approvals",
    "check_shown('approval.opened', 'approval', '{requestedAt,state,answeredBy,answeredAt,answerReason,covers,remember,consumed}')",
  ],
  ["questions", "check_shown('question.asked', 'question', '{askedAt,state,answers,answeredBy,answeredAt,answerReason}')"],
  [
    "proposals",
    `check_shown('proposal.staged', 'proposal', '{seq,state,parked,reminded,unheeded,failures,resolution,cause,changed,supersededBy,error,requested,stagedAt,updatedAt,input,manifest,contents,supersedes}')`,
  ],
];

const TRIGGERS: string = [
  "create or replace trigger check_role after update on counter for each row execute function check_counter();",
  ...CHECKS.map(
    ([table, call]) => `create or replace trigger check_role before insert or update on ${table} for each row execute function ${call};`,
  ),
  ...SHOWN.map(
    ([table, call]) => `create or replace trigger check_shown after insert or update on ${table} for each row execute function ${call};`,
  ),
].join("\n");
