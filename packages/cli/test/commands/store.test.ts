import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startPostgres } from "../../../store-postgres/test/postgres-server.ts";
import { type Place, place, until } from "../support/assent.ts";

const server = await startPostgres(18);
let count = 0;

/** A workspace whose record is on PostgreSQL. */
function remotePlace(): { readonly at: Place; readonly url: string; readonly env: Record<string, string> } {
  count += 1;
  const url = server.url(`cli${count}`);
  return { at: place(), url, env: { ASSENT_STORE: url } };
}

const SHELL = ["call", "shell", "--input"];

describe("a record on PostgreSQL", () => {
  test("a call waits on one machine, is answered on another, and continues on a third, once", { timeout: 120_000 }, async () => {
    const { at, url, env } = remotePlace();
    using first = at;
    using second = place();
    const parked = await first.hereJson([...SHELL, '{"command":"echo once >> x"}', "--on-ask", "park"], { env });
    assert.equal(parked.code, 75);
    const { approvalId, sessionId } = parked.value;
    const listed = await second.hereJson(["approvals", "--store", url]);
    assert.deepEqual(
      listed.value.map(({ id }: { id: string }) => id),
      [approvalId],
    );
    assert.match((await second.here(["approvals", "show", approvalId, "--store", url])).stdout, /echo once >> x/);
    const approved = await second.here(["approve", approvalId, "--store", url, "--by", "Ada"]);
    assert.equal(approved.code, 0, approved.stderr);
    const answer = (await second.here(["log", sessionId, "--type", "approval.answered", "--store", url, "--json"])).stdout;
    for (const known of ['"Ada"', '"host"', '"user"']) assert.ok(answer.includes(known), answer);
    const resumed = await Promise.all(Array.from({ length: 5 }, () => first.run(["resume", sessionId, "--json"], { env })));
    assert.ok(
      resumed.some(({ code }) => code === 0),
      JSON.stringify(resumed),
    );
    assert.equal(readFileSync(first.path("x"), "utf8"), "once\n");
    assert.ok(!existsSync(join(first.root, ".local/state/assent/ledger.db")), "no SQLite file");
    const { value } = await second.hereJson(["verify", "--store", url]);
    assert.deepEqual([value.ok, value.findings], [true, []]);
  });

  test("a process of its own prints its answer after it closed the record", { timeout: 120_000 }, async () => {
    const { at, env } = remotePlace();
    using here = at;
    const parked = await here.run([...SHELL, '{"command":"echo once >> x"}', "--on-ask", "park"], { env });
    assert.deepEqual([parked.code, /^Waiting for an answer/.test(parked.stderr)], [75, true], parked.stderr);
    assert.match((await here.run(["doctor"], { env })).stdout, /postgres:\/\/postgres@\S+: opens, \d+ events/);
  });

  test("your own settings choose the record, after --store and ASSENT_STORE; a project's settings do not", {
    timeout: 120_000,
  }, async () => {
    const { at, url } = remotePlace();
    using here = at;
    const env = { ASSENT_STORE: "" };
    mkdirSync(join(here.root, ".config/assent"), { recursive: true });
    mkdirSync(here.path(".assent"), { recursive: true });
    const [own, project] = [join(here.root, ".config/assent/settings.json"), here.path(".assent/settings.json")];
    writeFileSync(project, JSON.stringify({ version: 1, store: "postgres://evil.invalid/x" }));
    const call = [...SHELL, '{"command":"echo a"}', "--mode", "yolo"];
    const hostile = await here.here(call, { env });
    assert.match(hostile.stderr, /Ignored .*settings\.json:1:\d+: until you trust this workspace/);
    assert.deepEqual([hostile.code, existsSync(join(here.root, ".local/state/assent/ledger.db"))], [0, true], hostile.stderr);
    writeFileSync(own, JSON.stringify({ version: 1, store: url }));
    assert.match((await here.here(["doctor"], { env })).stdout, /ok\s+store\s+postgres:\/\/postgres@/);
    assert.match((await here.here(["sessions", "--all"], { env })).stdout, /No sessions/);
    assert.match((await here.here(["doctor"], { env: { ASSENT_STORE: here.store } })).stdout, /store: does not exist yet/);
    assert.match((await here.here(["doctor", "--store", here.path("flag")], { env })).stdout, /workspace\/flag: does not exist yet/);
    for (const [text, type] of [
      ['{"version":1,"store":"mysql://me:hunter2@host/db"}', "settings_type"],
      ['{"version":1,"store":"postgres://me:hunter2@host:port/db"}', "store_url_invalid"],
      ['{"store":', "settings_syntax"],
    ] as const) {
      writeFileSync(own, text);
      const { code, stdout, stderr } = await here.here(["approvals", "--json"], { env });
      assert.deepEqual(
        [code === 0, `${stdout}${stderr}`.includes(type), `${stdout}${stderr}`.includes("hunter2")],
        [false, true, false],
        stdout,
      );
    }
  });

  for (const url of [" postgres://me:hunter2@db/x", "postgres;//me:hunter2@db/x", "jdbc:postgresql://me:hunter2@db/x"])
    test(`${JSON.stringify(url.replace(/hunter2/, "…"))} is refused without its password, and no other record is used`, async () => {
      using here = place();
      const { ASSENT_STORE: _own, ...env } = here.env;
      const ways = [
        ["ASSENT_STORE", await here.run(["approvals"], { env: { ...env, ASSENT_STORE: url } })],
        ["--store", await here.run(["approvals", "--store", url])],
      ] as const;
      for (const [name, { code, stdout, stderr }] of ways)
        assert.deepEqual([code, stdout, stderr], [2, "", `assent: ${name} is a directory or a postgres:// URL, and this is neither.\n`]);
    });

  test("a URL of another kind of database is refused, and no directory is used instead", async () => {
    using here = place();
    const url = "mysql://me:hunter2@db/x";
    for (const [argv, env, name] of [
      [["--store", url], {}, "--store"],
      [[], { ASSENT_STORE: url }, "ASSENT_STORE"],
    ] as const) {
      const { code, stdout, stderr } = await here.here([...SHELL, '{"command":"ls"}', ...argv], { env });
      assert.deepEqual([code, stderr], [2, `assent: ${name} is a directory or a postgres:// URL, not a mysql:// URL.\n`], stdout);
    }
    assert.deepEqual([existsSync(here.path("mysql:")), existsSync(join(here.root, ".local/state/assent"))], [false, false]);
  });

  test("a record is copied to a directory and to another schema, and both copies are sound", { timeout: 120_000 }, async () => {
    const { at, url, env } = remotePlace();
    using here = at;
    assert.equal((await here.here([...SHELL, '{"command":"ls"}'], { env })).code, 0);
    const copied = await here.here(["store", "copy", url, "copy"]);
    assert.match(copied.stdout, /^Copied \d+ events\. Check the copy with: assent verify --store copy\n$/);
    assert.match((await here.here(["verify", "--store", "copy"])).stdout, /^No problems found/);
    const again = server.url(`copied${count}`);
    assert.equal((await here.here(["store", "copy", "copy", again])).code, 0);
    assert.match((await here.here(["verify", "--store", again])).stdout, /^No problems found/);
    const REFUSED: readonly (readonly [to: string, text: string])[] = [
      [again, `assent: ${again} already holds a ledger. Choose another schema: ?schema=NAME\n`],
      ["copy", `assent: ${here.path("copy")} already holds a ledger. Choose a new directory.\n`],
    ];
    for (const [to, text] of REFUSED) {
      const { code, stderr } = await here.here(["store", "copy", "copy", to]);
      assert.deepEqual([code, stderr], [1, text]);
    }
    await server.sql("create role reader login");
    const { stderr } = await here.here(["store", "copy", "copy", server.url("nowhere").replace("postgres@", "reader@")]);
    assert.match(stderr, /may not create the schema nowhere\. Copy it as a role that may\.\n$/);
  });

  test("a copy of a record that is not there says where to look, and creates nothing", { timeout: 60_000 }, async () => {
    using here = place();
    const ROWS: readonly (readonly [from: string, type: string, text: RegExp])[] = [
      [
        "nope",
        "store_unavailable",
        /^There is no ledger in \S+\/nope\. FROM must be the directory that has ledger\.db, or .* assent doctor$/,
      ],
      [server.url("nope"), "store_lost", /^There is no ledger in postgres:\S+ Check the database and \?schema=NAME in the URL\. /],
    ];
    for (const [from, type, text] of ROWS) {
      const { code, value } = await here.hereJson(["store", "copy", from, "copy"]);
      assert.deepEqual([code, value.error.type], [1, type]);
      assert.match(`${value.error.message} ${value.error.hint}`.trim(), text);
      assert.deepEqual([existsSync(here.path("nope")), existsSync(here.path("copy"))], [false, false]);
    }
  });

  const WRONG: readonly (readonly [sentence: string, url: string, shown: RegExp])[] = [
    ["a malformed port", "postgres://me:hunter2@host:port/db", /PostgreSQL URL is malformed/],
    ["a # in the password", "postgres://me:hunter2#x@host/db", /PostgreSQL URL is malformed/],
    ["another schema name", "postgres://me:hunter2@host/db?schema=No-Such", /PostgreSQL URL is malformed: its schema/],
    ["no slashes", "postgres:hunter2", /must begin with postgres:\/\//],
    ["no colon", "postgres//me:hunter2@host/db", /must begin with postgres:\/\//],
    ["a port that is too large", "postgres://me:hunter2@host:99999/db", /malformed: it cannot be parsed\. Check the port/],
    ["an unknown sslmode", "postgres://me:hunter2@host/db?sslmode=verify", /malformed: its sslmode must be disable, .* or verify-full/],
    ["two schemas", "postgres://me:hunter2@host/db?schema=a&schema=b", /malformed: it names several schemas/],
    [
      "a misspelled parameter",
      "postgres://me:hunter2@host/db?ssl_mode=require",
      /no parameter 'ssl_mode'\. Did you mean 'sslmode'\? Example/,
    ],
    ["a schema name of the server", "postgres://me:hunter2@host/db?schema=pg_mine", /underscore, but not with pg_\. Example/],
    ["a server that is not there", "postgres://me:hunter2@127.0.0.1:1/db", /cannot be reached: .*ECONNREFUSED/],
  ];
  for (const [sentence, url, shown] of WRONG) {
    test(`a URL with ${sentence} is an error that does not show the password`, { timeout: 60_000 }, async () => {
      using at = place();
      for (const [argv, env] of [
        [["approvals", "--store", url], {}],
        [["approvals"], { ASSENT_STORE: url }],
        [["verify", "--store", url], {}],
        [["store", "copy", url, "x"], {}],
      ] as const) {
        const { code, stdout, stderr } = await at.here(argv, { env });
        assert.equal(code, sentence === "a server that is not there" ? 1 : 2, stdout);
        assert.match(stderr, shown);
        assert.ok(!`${stdout}${stderr}`.includes("hunter2"), stderr);
      }
      const { code, stdout } = await at.here(["doctor"], { env: { ASSENT_STORE: url } });
      assert.deepEqual([code, shown.test(stdout), /hunter2|assent verify/.test(stdout)], [1, true, false], stdout);
    });
  }

  test("roles keep an agent's login from answering, with a reason that says what to use", { timeout: 120_000 }, async () => {
    const { at, url } = remotePlace();
    using here = at;
    const as = (role: string): string => url.replace("postgres@", `${role}@`);
    assert.match((await here.here(["store", "migrate", "--store", url])).stdout, /^The record is ready\. It is empty\.$/m);
    const prefix = `p${count}`;
    const script = (await here.here(["store", "roles", "--dry-run", "--prefix", prefix, "--store", url])).stdout;
    assert.match(script, /^begin;[\s\S]*create role "p\d+_agent" nologin[\s\S]*commit;\n$/);
    const made = await here.here(["store", "roles", "--prefix", prefix, "--store", url]);
    assert.deepEqual([made.code, /The roles are ready: p\d+_owner, p\d+_agent/.test(made.stdout)], [0, true], made.stderr);
    for (const kind of ["agent", "approver", "auditor"]) await server.sql(`create role ${kind}_login login in role ${prefix}_${kind}`);
    const parked = await here.hereJson([...SHELL, '{"command":"touch x"}', "--on-ask", "park", "--store", as("agent_login")]);
    assert.equal(parked.code, 75, parked.stderr);
    const { approvalId, sessionId } = parked.value;
    for (const [role, reason] of [
      ["agent_login", /role agent_login may run calls, but not answer or grant\. Use a role that is an approver\./],
      ["auditor_login", /role auditor_login may only read this ledger\./],
    ] as const) {
      const refused = await here.hereJson(["approve", approvalId, "--store", as(role)]);
      assert.deepEqual([refused.code, refused.value.error.type, reason.test(refused.value.error.message)], [1, "store_role_refused", true]);
    }
    assert.equal((await here.here(["approvals", "--store", as("auditor_login")])).code, 0);
    assert.match(
      (await here.here(["doctor", "--store", as("auditor_login")])).stdout,
      /ok\s+store\s+The database role auditor_login may only read/,
    );
    assert.equal((await here.here(["approve", approvalId, "--store", as("approver_login")])).code, 0);
    const resumed = await here.here(["resume", sessionId, "--store", as("agent_login")]);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.ok(existsSync(here.path("x")));
    here.write("script.json", JSON.stringify({ turns: [{ say: "Done by a worker." }] }));
    const agent = { env: { ASSENT_STORE: as("agent_login") } };
    const submitted = await here.hereJson(["run", "go", "--model", "script:script.json", "--detach"], agent);
    assert.equal(submitted.code, 0, submitted.stderr);
    const worker = here.start(["worker"], agent);
    const isDone = async (): Promise<boolean> =>
      (await here.hereJson(["sessions", "--all"], agent)).value.some(
        ({ id, state }: { id: string; state: string }) => id === submitted.value.sessionId && state === "done",
      );
    await until("the worker ran it", isDone);
    worker.kill("SIGTERM");
  });

  test("printed commands repeat the URL without its password", { timeout: 60_000 }, async () => {
    const { at, url } = remotePlace();
    using here = at;
    const secret = url.replace("postgres@", "postgres:hunter2@");
    const { code, stderr } = await here.here([...SHELL, '{"command":"touch y"}', "--on-ask", "park", "--store", secret]);
    assert.equal(code, 75);
    assert.match(stderr, /assent approve a_\S+ --store 'postgres:\/\/postgres@\//);
    assert.ok(!stderr.includes("hunter2"));
  });
});
