import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { type Lease, type Ledger, LedgerError, type SharedDraft } from "@assent/core";
import {
  answeredDraft,
  claimedDraft,
  createdDraft,
  draftOf,
  endedDraft,
  judgedDraft,
  openedDraft,
  proposedDraft,
} from "@assent/core/testing";
import { createPostgresRoles, openPostgresLedger, verifyPostgres } from "../src/index.ts";
import { scratch, thisHolder } from "./made-ledger.ts";
import { POSTGRES_VERSIONS, startPostgres } from "./postgres-server.ts";

const servers = await Promise.all(POSTGRES_VERSIONS.map((version) => startPostgres(version)));
const MINE = "s_aaaaaaaaaaaaaaaaaaaa";
const OTHERS = "s_bbbbbbbbbbbbbbbbbbbb";
/** Of the same role as MINE. Its approval stays open. */
const WAITING = "s_dddddddddddddddddddd";
const { directory, remove } = scratch();
process.on("exit", remove);

function refused(what: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof LedgerError && error.type === "store_role_refused" && what.test(error.message);
}

/** A session with an open approval of c1. */
async function ask(ledger: Ledger, session: string, also?: () => Promise<unknown>): Promise<Lease> {
  const holder = thisHolder();
  const lease = await ledger.acquire(session, holder);
  const opened = draftOf("session.opened", { ...holder, recovered: [] });
  const asked = [proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1", { approval: approvalIn(session) })];
  await Promise.all([ledger.append(lease, 0, { events: [createdDraft(), opened, ...asked], durability: "full" }), also?.()]);
  return lease;
}

const approvalIn = (session: string): string => `a_${session.slice(2)}`;

function yesTo(session: string): SharedDraft {
  const answer = answeredDraft(session, "c1");
  return { ...answer, body: { ...answer.body, approval: approvalIn(session) } };
}

for (const [at, server] of servers.entries()) {
  describe(`the roles of a ledger on PostgreSQL ${POSTGRES_VERSIONS[at]}`, { timeout: 120_000 }, () => {
    const url = (role: string, schema = "team"): string => server.url(schema).replace("postgres@", `${role}@`);
    const open = (role: string): ReturnType<typeof openPostgresLedger> => openPostgresLedger({ url: url(role), directory });

    const sql = (role: string, text: string): Promise<readonly object[]> => server.sql(`set search_path to team; ${text}`, { user: role });

    before(async () => {
      await sql(
        "postgres",
        "create role dba login createrole; create schema team authorization dba; create schema other authorization dba",
      );
      await (await openPostgresLedger({ url: url("dba", "other"), directory })).close();
      await (await open("dba")).close();
      const { roles } = await createPostgresRoles({ url: url("dba") });
      assert.deepEqual(roles, ["team_owner", "team_agent", "team_approver", "team_auditor"]);
      await sql(
        "postgres",
        `create role ci login in role team_agent; create role other_ci login in role team_agent; create role pat login in role team_approver;
         create role audit login in role team_auditor; create role boss login in role team_owner; create role desk login in role team_agent, team_approver`,
      );
      const [agent, other] = [await open("ci"), await open("other_ci")];
      await ask(agent, MINE);
      await ask(agent, WAITING);
      await ask(other, OTHERS);
      await other.snapshot(OTHERS, 1, { state: {} });
      await agent.close();
      await other.close();
      await sql("postgres", "insert into blobs values (encode(sha256('theirs'), 'hex'), 'theirs')");
    });

    test("an agent runs, an approver answers, and each is refused the work of the other with a reason", async () => {
      const [agent, approver] = [await open("ci"), await open("pat")];
      const lease = await agent.acquire(MINE, thisHolder());
      await assert.rejects(
        agent.answer([yesTo(MINE)]),
        refused(/role ci may run calls, but not answer or grant\. Use a role that is an approver/),
      );
      await assert.rejects(approver.acquire(OTHERS, thisHolder()), refused(/role pat may answer, but not run calls/));
      const outcome = await approver.answer([yesTo(MINE)]);
      assert.ok("won" in outcome);
      const answer = { pos: outcome.won[0]?.pos ?? 0 };
      assert.ok("won" in (await agent.claim(lease, 5, claimedDraft("c1", { answer }))));
      await agent.append(lease, 6, { events: [endedDraft("c1")], durability: "full" });
      await agent.close();
      await approver.close();
    });

    test("an agent does not continue the session of another role, unless it is a member of that role", async () => {
      const agent = await open("ci");
      await assert.rejects(agent.acquire(OTHERS, thisHolder()), refused(/the role ci may not write session s_bbb/));
      await agent.close();
      await sql("postgres", "grant other_ci to ci");
      const member = await open("ci");
      await member.acquire(OTHERS, thisHolder());
      await member.close();
      await sql("postgres", "revoke other_ci from ci");
    });

    test("an auditor reads and verifies, and writes nothing", async () => {
      const auditor = await open("audit");
      assert.equal((await auditor.pending("sessions", { all: true })).length, 3);
      await assert.rejects(auditor.answer([yesTo(OTHERS)]), refused(/role audit may only read this ledger/));
      await auditor.close();
      assert.deepEqual((await verifyPostgres({ url: url("audit"), directory })).findings, []);
    });

    test("a role with both rights asks and answers in one commit", async () => {
      const desk = await open("desk");
      const session = "s_eeeeeeeeeeeeeeeeeeee";
      await ask(desk, session, async () => assert.ok("won" in (await desk.answer([yesTo(session)]))));
      await desk.close();
    });

    test("one role can have both rights, and only an owner trusts projects", async () => {
      const trust: SharedDraft = draftOf("trust.granted", {
        ...{ workspace: "/w", device: "1", inode: "1", digest: "d", files: [] },
        by: { kind: "person", user: "u", name: "u", door: "cli", pid: 1 },
      });
      const desk = await open("desk");
      await ask(desk, "s_cccccccccccccccccccc");
      assert.ok("won" in (await desk.answer([yesTo("s_cccccccccccccccccccc")])));
      await assert.rejects(desk.answer([trust]), refused(/not change which projects are trusted\. Use a role that is an owner/));
      await desk.close();
      const boss = await open("boss");
      assert.ok("won" in (await boss.answer([trust])));
      await boss.acquire(MINE, thisHolder());
      await boss.close();
    });

    /** What a program does that was changed to ignore Assent's own checks. */
    const EVENT = (type: string, session = "_store", body = "{}"): string =>
      `insert into events (pos, session, seq, epoch, at, type, v, body, prev, hash) select max(pos) + 1, '${session}', 9999, 1, '2026-01-01T00:00:00.000Z',
       '${type}', 1, '${body}', '', '' from events`;
    const ROW = (table: string, change: string): string => `update ${table} set row = ${change}`;
    const WRITES: readonly (readonly [role: string, sentence: string, text: string])[] = [
      ["ci", "answer an approval", EVENT("approval.answered")],
      ["ci", "answer an approval in its own session", EVENT("approval.answered", MINE)],
      ["ci", "answer a question", EVENT("question.answered", "_store", '{"outcome":"cancelled","outcome":"answered"}')],
      ["ci", "create a grant", EVENT("grant.created")],
      ["ci", "request that a proposal is applied", EVENT("proposal.requested")],
      ["ci", "cancel a run of another session", EVENT("cancel.requested")],
      ["ci", "trust a project", EVENT("trust.granted")],
      ["ci", "record that sessions were pruned", EVENT("store.pruned")],
      ["ci", "write an event of another role's session", EVENT("call.proposed", OTHERS)],
      [
        "ci",
        "add an event to another role's call from its own session",
        EVENT("call.ended", MINE).replace("hash)", "hash, naming)").replace("'' from", `'', '${OTHERS}' from`),
      ],
      ["ci", "put an event before others", EVENT("store.checkpoint").replace("max(pos) + 1", "0")],
      ["ci", "leave no position for others", EVENT("store.checkpoint").replace("max(pos) + 1", "max(pos) + 9007199254700000")],
      ["ci", "change an event", "update events set body = '{}'"],
      ["ci", "remove an event", "delete from events"],
      ["ci", "empty a table", "truncate events"],
      ["ci", "call an approval approved", ROW("approvals", `replace(row, '"state":"open"', '"state":"approved"')`)],
      [
        "ci",
        "add an approval that is approved",
        `insert into approvals select 'a_new', first + 100, latest, '${MINE}', tool, open, replace(row, '"state":"open"', '"state":"approved"') from approvals where session = '${OTHERS}'`,
      ],
      ["ci", "use an approval again", ROW("approvals", `replace(row, '"consumed":true', '"consumed":false')`)],
      [
        "ci",
        "show another approval differently",
        `${ROW("approvals", `replace(row, '"title":"', '"title":"x')`)} where session = '${OTHERS}'`,
      ],
      [
        "ci",
        "show its own approval differently from its record",
        `${ROW("approvals", `replace(row, '"title":"', '"title":"x')`)} where session = '${WAITING}'`,
      ],
      [
        "ci",
        "show its own approval under the id of another",
        `${ROW("approvals", `replace(row, '${approvalIn(WAITING)}', '${approvalIn(OTHERS)}')`)} where session = '${WAITING}'`,
      ],
      [
        "ci",
        "list an approval that was not recorded",
        `insert into approvals select 'a_new', first + 100, latest, session, tool, open, replace(row, id, 'a_new') from approvals where session = '${WAITING}'`,
      ],
      [
        "ci",
        "list a question that was not recorded",
        `insert into questions values ('q_new', 1, 1, '${WAITING}', 'c1', 1, '{"id":"q_new","session":"${WAITING}","state":"open","callId":"c1"}')`,
      ],
      [
        "ci",
        "list a proposal that was not recorded",
        `insert into proposals values ('p_new', 1, 1, '${WAITING}', 'write', 1, '{"id":"p_new","session":"${WAITING}","state":"staged"}')`,
      ],
      ["ci", "add a grant", `insert into grants values ('g', 1, 1, null, 'shell', 1, '{"state":"active"}')`],
      ["ci", "take another role's session", `update leases set epoch = epoch + 1 where session = '${OTHERS}'`],
      ["ci", "make another role's session its own", "update sessions set role = current_user"],
      ["ci", "change who holds another role's session", `update sessions set holder = null where session = '${OTHERS}'`],
      [
        "ci",
        "give another role's session a new id, to begin it again as its own",
        `update sessions set session = 's_x' where session = '${OTHERS}'`,
      ],
      ["ci", "give the shared chain a new id", "update sessions set session = 's_x' where session = '_store'"],
      [
        "ci",
        "list another role's session in another directory",
        `update sessions set row = replace(row, '"cwd":"', '"cwd":"/evil') where session = '${OTHERS}'`,
      ],
      [
        "ci",
        "list another role's session as queued",
        `update sessions set row = replace(row, '"state":"running"', '"state":"queued"') where session = '${OTHERS}'`,
      ],
      ["ci", "move the lease of another role's session", `update leases set session = 's_x' where session = '${OTHERS}'`],
      ["ci", "move the snapshot of another role's session", `update snapshots set session = '${MINE}' where session = '${OTHERS}'`],
      [
        "ci",
        "replace a value that others use",
        "update blobs set sha = encode(sha256('mine'), 'hex'), bytes = 'mine' where bytes = 'theirs'",
      ],
      ["ci", "set the counter back", "update counter set pos = 1"],
      ["ci", "set the counter forward", "update counter set pos = 9007199254740993"],
      ["ci", "end every deadline with a counter in the future", "update counter set newest_at = '9999-12-31T00:00:00.000Z'"],
      ["ci", "end every deadline with an event in the future", EVENT("call.proposed", MINE).replace("2026-01", "9999-01")],
      ["ci", "change the ledger's id", "update meta set value = 'x' where key = 'store'"],
      ["ci", "name other roles", "update meta set value = 'x' where key = 'roles'"],
      ["ci", "store a value under a wrong name", "insert into blobs values ('ab', 'x')"],
      ["ci", "remove the triggers", "alter table events disable trigger all"],
      ["ci", "skip the triggers", "set session_replication_role = replica"],
      ["ci", "become another role", "set role team_approver"],
      ["ci", "replace a check", "create or replace function check_event() returns trigger language plpgsql as 'begin return new; end'"],
      ["ci", "hide the tables of a check", `create temp table sessions (session text, role name); ${EVENT("call.proposed", OTHERS)}`],
      ["ci", "read another installation", "select * from other.events"],
      ["ci", "write another installation", "insert into other.meta values ('a', 'b')"],
      ["pat", "propose a call", EVENT("call.proposed", MINE)],
      ["pat", "claim a call", EVENT("call.claimed", MINE)],
      ["pat", "end a call", EVENT("call.ended", MINE)],
      ["pat", "take a session", "update leases set busy = false"],
      [
        "pat",
        "begin a session",
        `insert into sessions (session, seq, hash, pos, first, epoch, policy_seq, newest_at, closed, pruned) values ('s_x', 0, '', 0, 0, 0, 0, '', 0, 0)`,
      ],
      ["pat", "use an answer again", ROW("approvals", `replace(row, '"consumed":true', '"consumed":false')`)],
      ["pat", "show an approval differently", ROW("approvals", `replace(row, '"title":"', '"title":"x')`)],
      ["pat", "trust a project", EVENT("trust.granted")],
      ["pat", "remove an event", "delete from events"],
      ["audit", "record an event", EVENT("approval.answered")],
      ["audit", "change the counter", "update counter set pos = pos"],
      ["audit", "block the others", "select * from counter for update"],
      ["audit", "read another installation", "select * from other.events"],
    ];
    for (const [role, sentence, text] of WRITES) {
      test(`the role ${role} cannot ${sentence} with SQL of its own`, async () => {
        await assert.rejects(sql(role, text), (error: Error & { readonly code?: string }) => error.code === "42501");
      });
    }

    test("the roles can be created again, and what was refused left no trace", async () => {
      await createPostgresRoles({ url: url("dba") });
      assert.deepEqual((await verifyPostgres({ url: url("boss"), directory })).findings, []);
    });

    test("the logins of the documentation work", async () => {
      await createPostgresRoles({ url: url("dba", "other"), prefix: "assent" });
      await sql("postgres", readFileSync(join(import.meta.dirname, "../../../examples/operations/logins.sql"), "utf8"));
      const [agent, approver] = [
        await openPostgresLedger({ url: url("build_agent", "other"), directory }),
        await openPostgresLedger({ url: url("on_call", "other"), directory }),
      ];
      await ask(agent, MINE);
      await approver.answer([yesTo(MINE)]);
      await agent.close();
      await approver.close();
    });

    test("answers are recorded although a wrong clock once recorded an event far ahead", async () => {
      const ahead = "update other.counter set newest_at = to_char(now() + interval '9 hours', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')";
      await sql("postgres", `set session_replication_role = replica; ${ahead}`);
      const [agent, approver] = [
        await openPostgresLedger({ url: url("build_agent", "other"), directory }),
        await openPostgresLedger({ url: url("on_call", "other"), directory }),
      ];
      await ask(agent, OTHERS);
      const answered = await approver.answer([yesTo(OTHERS)]);
      assert.ok("won" in answered, JSON.stringify(answered));
      await agent.close();
      await approver.close();
    });

    test("the monitoring queries of the documentation run as an auditor", async () => {
      const queries = readFileSync(join(import.meta.dirname, "../../../examples/operations/monitoring.sql"), "utf8");
      const rows = await server.sql(queries.replaceAll(/\bassent;/g, "team;").replace("nspname = 'assent'", "nspname = 'team'"), {
        user: "audit",
      });
      const open = rows.find((row) => Reflect.get(row, "list") === "approvals");
      assert.deepEqual([Reflect.get(open ?? {}, "count"), typeof Reflect.get(open ?? {}, "oldest")], ["2", "string"]);
      assert.ok(rows.some((row) => Reflect.get(row, "relname") === "events"));
      assert.ok(rows.some((row) => Reflect.has(row, "waiting")));
    });

    test("a role that may not create roles, and names that are taken, are refused with what to do", async () => {
      await assert.rejects(
        createPostgresRoles({ url: url("boss") }),
        refused(/role boss of .* may not create roles\..*assent store roles --dry-run$/),
      );
      await assert.rejects(
        createPostgresRoles({ url: url("dba", "other"), prefix: "team" }),
        refused(/role team_owner exists and does not belong to this ledger\. Choose --prefix NAME/),
      );
      await assert.rejects(createPostgresRoles({ url: url("dba"), prefix: "No" }), refused(/'No' cannot begin the names of roles/));
      const { script } = await createPostgresRoles({ url: url("audit"), dryRun: true });
      await sql("dba", script);
    });
  });
}
