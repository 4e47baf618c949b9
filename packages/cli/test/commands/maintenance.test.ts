import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { type Place, place, type RunOptions } from "../support/assent.ts";

async function someRecord(at: Place): Promise<{ sessionId: string }> {
  const { value } = await at.hereJson(["call", "shell", "--input", '{"command":"true"}', "--mode", "yolo"]);
  assert.equal(value.outcome, "succeeded");
  return value;
}

function tamper(at: Place, sql: string, ...values: string[]): void {
  const database = new DatabaseSync(join(at.store, "ledger.db"));
  database.prepare(sql).run(...values);
  database.close();
}

describe("assent verify", () => {
  test("a sound record: exit 0, the counts and the heads", async () => {
    using at = place();
    const { sessionId } = await someRecord(at);
    const { code, value } = await at.hereJson(["verify"]);
    assert.equal(code, 0);
    assert.deepEqual(Object.keys(value), ["ok", "store", "sessions", "events", "findings", "heads"]);
    assert.deepEqual([value.ok, value.sessions, value.findings], [true, 1, []]);
    assert.ok(value.heads.some(({ session }: { session: string }) => session === sessionId));
    assert.match((await at.here(["verify"])).stdout, /^No problems found: 1 session, \d+ events\.\n$/);
    assert.equal((await at.hereJson(["verify", sessionId.slice(0, 8)])).value.ok, true);
  });

  test("a changed byte is found: exit 1, hash_mismatch at that place", async () => {
    using at = place();
    const { sessionId } = await someRecord(at);
    tamper(at, "update events set body = replace(body, 'true', 'fals') where session = ? and type = 'call.proposed'", sessionId);
    const { code, value } = await at.hereJson(["verify"]);
    assert.deepEqual([code, value.ok], [1, false]);
    const found = value.findings.find(({ type }: { type: string }) => type === "hash_mismatch");
    assert.deepEqual([found.severity, found.session], ["error", sessionId]);
    assert.deepEqual(Object.keys(found), ["severity", "type", "session", "seq", "message", "hint"]);
    const text = await at.here(["verify"]);
    assert.equal(text.code, 1);
    assert.match(text.stdout, new RegExp(`error: hash_mismatch ${sessionId}#\\d+: .+\\nProblems found: `));
  });

  test("an anchor kept elsewhere finds what was removed whole", async () => {
    using at = place();
    await someRecord(at);
    const exported = await at.here(["verify", "--export-anchor", "heads.json"]);
    assert.equal(exported.code, 0);
    assert.equal(statSync(at.path("heads.json")).mode & 0o777, 0o600);
    assert.equal((await at.hereJson(["verify", "--anchor", "heads.json"])).code, 0);
    const anchor = JSON.parse(readFileSync(at.path("heads.json"), "utf8"));
    anchor.heads[0].hash = "0".repeat(64);
    writeFileSync(at.path("other.json"), JSON.stringify(anchor));
    assert.equal((await at.hereJson(["verify", "--anchor", "other.json"])).code, 1);
    assert.equal((await at.here(["verify", "--anchor", "missing.json"])).code, 2);
    assert.equal((await at.here(["verify", "--anchor", at.write("no.json", "[]")])).code, 2);
  });

  test("no ledger: exit 1, and none is made; an unknown session: exit 4", async () => {
    using at = place();
    assert.equal((await at.here(["verify"])).code, 1);
    assert.ok(!existsSync(at.store));
    await someRecord(at);
    assert.deepEqual((await at.hereJson(["verify", "s_unknown"])).value.error.type, "session_not_found");
  });

  test("--repair of a file that is not a database: exit 1, and the hint is not the same command", async () => {
    using at = place();
    await someRecord(at);
    writeFileSync(join(at.store, "ledger.db"), "this is no database, whatever its name says".repeat(200));
    const { code, stderr } = await at.here(["verify", "--repair"]);
    assert.equal(code, 1);
    assert.match(stderr, /^assent: The database file is damaged\. It cannot be repaired\. Restore a backup, or move .+\n$/);
    assert.doesNotMatch(stderr, /assent verify/);
  });

  test("--rebuild makes the lists again from the events", async () => {
    using at = place();
    await someRecord(at);
    tamper(at, "update sessions set row = replace(row, 'done', 'idle') where session like ?", "s_%");
    assert.equal((await at.hereJson(["verify"])).code, 1);
    assert.equal((await at.hereJson(["verify", "--rebuild"])).code, 0);
    assert.equal((await at.hereJson(["sessions"])).value[0].state, "done");
  });
});

describe("assent prune", () => {
  test("removes what ended long ago, not what waits; a dry run removes nothing; the record stays sound", async () => {
    using at = place();
    await someRecord(at);
    await at.here(["call", "shell", "--input", '{"command":"touch x"}', "--on-ask", "park"]);
    assert.equal((await at.hereJson(["prune", "--older-than", "1h"])).value.sessions, 0);
    const dry = await at.hereJson(["prune", "--older-than", "0ms", "--dry-run"]);
    assert.deepEqual([dry.code, dry.value.sessions], [0, 1]);
    assert.equal((await at.hereJson(["sessions"])).value.length, 2);
    const done = await at.hereJson(["prune", "--older-than", "0ms"]);
    assert.deepEqual(done.value, dry.value);
    assert.deepEqual(
      (await at.hereJson(["sessions"])).value.map(({ state }: { state: string }) => state),
      ["parked"],
    );
    assert.equal((await at.hereJson(["verify"])).code, 0);
  });

  test("a run that ended at a limit goes; what is old enough and stays is counted on stderr, by its reason", async () => {
    using at = place();
    at.write("s.yaml", "turns:\n  - calls: [{ tool: list, input: { path: . } }]\n  - say: done\n");
    assert.equal((await at.here(["run", "go", "--model", "script:s.yaml", "--max-turns", "1"])).code, 53);
    assert.equal((await at.hereJson(["sessions"])).value[0].state, "idle");
    await at.here(["call", "shell", "--input", '{"command":"touch x"}', "--on-ask", "park"]);
    const { stdout, stderr } = await at.here(["prune", "--older-than", "0ms"]);
    assert.match(stdout, /^Removed 1 session, \d+ bytes\.\n$/);
    assert.equal(stderr, "Kept 1 session: something in it waits for a person. See: assent approvals, assent proposals\n");
    const [{ id }] = (await at.hereJson(["approvals"])).value;
    await at.here(["reject", id]);
    assert.match((await at.here(["prune", "--older-than", "0ms"])).stderr, /^Kept 1 session: still running, parked or interrupted/);
  });

  test("without --older-than: exit 2; without a store: nothing to do", async () => {
    using at = place();
    assert.equal((await at.here(["prune"])).code, 2);
    assert.deepEqual((await at.hereJson(["prune", "--older-than", "30d"])).value, { sessions: 0, bytes: 0 });
    assert.ok(!existsSync(at.store));
  });
});

describe("assent doctor", () => {
  const statuses = (value: { checks: { name: string; status: string }[] }): Record<string, string> =>
    Object.fromEntries(value.checks.map(({ name, status }) => [name, status]));

  test("all is well: exit 0; a store is looked at, not made", async () => {
    using at = place();
    const before = await at.hereJson(["doctor"]);
    assert.deepEqual([before.code, before.value.ok], [0, true]);
    assert.ok(!existsSync(at.store));
    await someRecord(at);
    const { value } = await at.hereJson(["doctor"]);
    assert.deepEqual(Object.keys(statuses(value)), ["node", "store", "terminal", "bash", "git", "rg", "sandbox", "editor"]);
    assert.match(value.checks[6].detail, /^works: bubblewrap|^commands cannot be confined: ./);
    assert.match(value.checks[1].detail, /opens, mode 0700, \d+ events/);
    assert.match((await at.here(["doctor"])).stdout, /^STATUS +CHECK +FOUND\nok +node +v\d/);
  });

  test("a missing bash or a damaged store: exit 1", async () => {
    using at = place();
    const bare = await at.hereJson(["doctor"], { env: { PATH: at.root } });
    assert.deepEqual([bare.code, statuses(bare.value)["bash"]], [1, "error"]);
    await someRecord(at);
    writeFileSync(join(at.store, "ledger.db"), "this is no database, whatever its name says".repeat(200));
    const damaged = await at.hereJson(["doctor"]);
    assert.deepEqual([damaged.code, statuses(damaged.value)["store"]], [1, "error"]);
  });

  test("a store that can be read and not written: exit 1, told as a call would tell it", async () => {
    using at = place();
    await someRecord(at);
    const openDatabase: RunOptions["openDatabase"] = (file, options) => {
      if (options.readOnly) return new DatabaseSync(file, options);
      throw Object.assign(new Error("attempt to write a readonly database"), { errcode: 8 });
    };
    const { code, value } = await at.hereJson(["doctor"], { openDatabase });
    const { status, detail } = value.checks[1];
    assert.deepEqual([code, value.ok, status], [1, false, "error"]);
    assert.match(detail, /^The ledger .+ledger\.db cannot be written: its file system refuses it\. Make it writable, or choose/);
  });

  test("a store that cannot be made: exit 1, told without making anything", async () => {
    using at = place();
    const file = at.write("file", "");
    for (const [store, why] of [
      ["/proc/none/store", "/proc belongs to the kernel"],
      [join(file, "store"), `${file} is not a directory`],
    ] as const) {
      const { code, value } = await at.hereJson(["doctor", "--store", store]);
      assert.deepEqual([code, value.checks[1].status, value.checks[1].detail], [1, "error", `${store}: cannot be created: ${why}`]);
    }
  });

  test("a hint about an unknown id names the store that was named", async () => {
    using at = place();
    const { code, stderr } = await at.here(["undo", "p_nope", "--store", at.store]);
    assert.deepEqual([code, stderr], [4, `assent: There is no proposal 'p_nope'.\nSee: assent proposals --all --store ${at.store}\n`]);
  });

  test("a store that others could read becomes private, with a warning", async () => {
    using at = place();
    await someRecord(at);
    chmodSync(at.store, 0o755);
    const { stderr } = await at.here(["sessions"]);
    assert.match(stderr, /^assent: warning: .*0755/);
    assert.equal(statSync(at.store).mode & 0o777, 0o700);
  });
});

describe("the demonstration", () => {
  for (const argv of [[], ["demo"]]) {
    test(`assent ${argv.join(" ")} without a terminal plays it: exit 0, and its record can be looked at`, async () => {
      using at = place();
      const { code, stdout, stderr } = await at.run(argv, { env: { TMPDIR: at.root } });
      assert.deepEqual([code, stderr], [0, ""]);
      for (const text of [
        "What should fetchUser be called?",
        "answered by Ada",
        "+ import { loadUser } from",
        "nothing is written yet",
        "the edit was applied, once",
        "approved by Grace",
        "the tests pass, and nothing mentions the old name",
        "Nothing to resume.",
        "denied by session permissions",
        "every byte is as it was",
        "No problems found: ",
      ]) {
        assert.ok(stdout.includes(text), `${text}\n${stdout}`);
      }
      assert.ok(!existsSync(at.store), "it has a store of its own");
      const [session, store] = /sessions export (\S+) --store (\S+)/.exec(stdout)?.slice(1) ?? [];
      const exported = await at.run(["sessions", "export", session ?? "", "--store", store ?? ""]);
      assert.match(exported.stdout, /answered/);
    });
  }

  test("npm start plays the demonstration, at a terminal too", () => {
    const { scripts } = JSON.parse(readFileSync(new URL("../../../../package.json", import.meta.url), "utf8"));
    assert.equal(scripts.start, "npm run demo");
    assert.match(scripts.demo, /assent\.js demo$/);
  });

  test("--store keeps its record there, but never in one that is there already", async () => {
    using at = place();
    const store = join(at.root, "kept");
    const played = await at.json(["demo", "--store", store], { env: { TMPDIR: at.root } });
    assert.deepEqual([played.code, played.value.store], [0, store]);
    assert.ok((await at.hereJson(["sessions", "--store", store])).value.length > 0);
    const again = await at.here(["demo", "--store", store]);
    assert.deepEqual([again.code, again.stdout], [2, ""]);
    assert.match(again.stderr, /^assent demo: '.*kept' already holds a record/);
    const remote = await at.here(["demo", "--store", "postgres://u:secret@h/db"]);
    assert.deepEqual(
      [remote.code, remote.stderr.split("\n")[0]],
      [2, "assent demo: the demo needs a new directory for its record, not a URL."],
    );
  });

  test("--json tells each step with its exit code, and where it was", async () => {
    using at = place();
    const { code, value } = await at.json(["demo"], { env: { TMPDIR: at.root } });
    assert.deepEqual([code, value.ok], [0, true]);
    assert.deepEqual(
      value.steps.map(({ exit }: { exit: number }) => exit),
      [75, 0, 0, 75, 0, 0, 0, 75, 0, 0, 0, 1, 0, 0, 0],
    );
    assert.ok(existsSync(value.store));
  });
});
