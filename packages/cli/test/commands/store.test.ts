import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startPostgres } from "../../../store-postgres/test/postgres-server.ts";
import { type Place, place } from "../support/assent.ts";

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
    assert.match((await here.run(["doctor"], { env })).stdout, /PostgreSQL: opens, \d+ events/);
  });

  test("a URL of another kind of database is refused, and no directory is made of it", async () => {
    using here = place();
    const { code, stderr } = await here.here([...SHELL, '{"command":"ls"}', "--store", "mysql://db/x"]);
    assert.deepEqual([code, /a directory or a postgres:\/\/ URL, not a mysql:\/\/ URL/.test(stderr)], [2, true], stderr);
    assert.ok(!existsSync(here.path("mysql:")));
  });

  test("every command of a person works with it", { timeout: 120_000 }, async () => {
    const { at, url, env } = remotePlace();
    using here = at;
    const wrote = await here.hereJson(["call", "write", "--input", '{"file_path":"a.txt","content":"one\\n"}', "--mode", "yolo"], { env });
    assert.equal(wrote.code, 0, wrote.stderr);
    const [proposal] = (await here.hereJson(["proposals", "--all"], { env })).value;
    here.write("old.json", '{"version":1}');
    here.write("new.json", '{"version":1,"permissions":{"deny":["Write"]}}');
    const commands: readonly (readonly [argv: readonly string[], shown: RegExp])[] = [
      [["doctor"], /PostgreSQL: opens, \d+ events/],
      [["sessions", "--all"], /done/],
      [["sessions", "export", wrote.value.sessionId], /Outcome: \*\*succeeded/],
      [["log", wrote.value.sessionId], /call\.ended/],
      [["grants"], /./],
      [["tasks"], /./],
      [["explain", "--tool", "shell", "--input", '{"command":"rm x"}'], /./],
      [["policy", "diff", "old.json", "new.json", "--ledger"], /write/],
      [["proposals", "show", proposal.id], /a\.txt/],
      [["undo", proposal.id], /./],
      [["prune", "--older-than", "1d", "--dry-run"], /Would remove 0 sessions/],
      [["verify"], /No problems found: \d+ sessions?/],
      [["store", "migrate"], /The record is up to date: \d+ events/],
    ];
    for (const [argv, shown] of commands) {
      const { code, stdout, stderr } = await here.here(argv, { env });
      assert.equal(code, 0, `${argv.join(" ")}: ${stderr}`);
      assert.match(stdout + stderr, shown, argv.join(" "));
    }
    assert.ok(!existsSync(here.path("a.txt")), "undone");
    const copied = await here.here(["store", "copy", url, "copy"]);
    assert.match(copied.stdout, /^Copied \d+ events\./);
    assert.match((await here.here(["verify", "--store", "copy"])).stdout, /^No problems found/);
    const again = server.url(`copied${count}`);
    assert.equal((await here.here(["store", "copy", "copy", again])).code, 0);
    assert.match((await here.here(["verify", "--store", again])).stdout, /^No problems found/);
    assert.equal((await here.here(["store", "copy", "copy", again])).code, 1);
  });

  const WRONG: readonly (readonly [sentence: string, url: string, shown: RegExp])[] = [
    ["a malformed port", "postgres://me:hunter2@host:port/db", /PostgreSQL URL is malformed/],
    ["a # in the password", "postgres://me:hunter2#x@host/db", /PostgreSQL URL is malformed/],
    ["another schema name", "postgres://me:hunter2@host/db?schema=No-Such", /PostgreSQL URL is malformed: its schema/],
    ["no slashes", "postgres:hunter2", /must begin with postgres:\/\//],
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
        assert.equal(code, 1, stdout);
        assert.match(stderr, shown);
        assert.ok(!`${stdout}${stderr}`.includes("hunter2"), stderr);
      }
    });
  }

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
