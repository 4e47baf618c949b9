import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { openLedger } from "@assent/store";
import { type Place, place, projectFile, put, type RunOptions, userFile } from "../support/assent.ts";

type Asked = { readonly tool?: string; readonly input?: object; readonly scope?: string; readonly more?: readonly string[] };

/** Creates a grant by a remembered answer. */
async function grant(at: Place, asked: Asked = {}, options: RunOptions = {}): Promise<{ readonly id: string; readonly rule: string }> {
  const { tool = "shell", input = { command: "make lint" }, scope = "user", more = [] } = asked;
  const parked = await at.hereJson(["call", tool, "--input", JSON.stringify(input), "--on-ask", "park"], options);
  const { code, stderr } = await at.here(["approve", parked.value.approvalId, "--remember", scope, ...more]);
  assert.equal(code, 0, stderr);
  return (await at.hereJson(["grants"])).value.at(-1);
}

describe("assent grants promote", () => {
  test("to user: the rule is added to the user's settings and allows the call from then on", async () => {
    using at = place();
    const { id } = await grant(at);
    const { code, value } = await at.hereJson(["grants", "promote", id, "--to", "user"]);
    assert.equal(code, 0);
    assert.deepEqual(Object.keys(value), ["id", "rule", "file", "line", "diff"]);
    assert.deepEqual([value.id, value.rule, value.file, value.line], [id, "Shell(make lint)", userFile(at), 4]);
    assert.match(value.diff, /^--- \/dev\/null\n\+\+\+ b\/.*settings\.json\n@@ .*\n(\+.*\n)+$/);
    assert.deepEqual(JSON.parse(readFileSync(userFile(at), "utf8")), { permissions: { allow: ["Shell(make lint)"] } });
    const explained = await at.hereJson(["explain", "--tool", "shell", "--input", '{"command":"make lint"}']);
    assert.deepEqual([explained.value.verdict, explained.value.source, explained.value.rule.line], ["allow", "user permissions", 4]);
    assert.equal((await at.hereJson(["grants"])).value[0].state, "active");
  });

  test("to project: comments, order and the rest of the file are kept, and the person is asked to trust it again", async () => {
    using at = place();
    const { id } = await grant(at, { scope: "project" });
    const text =
      '{\n  // ours\n  "permissions": {\n    "deny": ["Shell(curl)"], // no network\n    "allow": [\n      "Shell(npm ci)",\n    ]\n  }\n}\n';
    put(projectFile(at), text);
    const { code, stdout } = await at.here(["grants", "promote", id, "--to", "project"]);
    assert.equal(code, 0);
    assert.equal(
      readFileSync(projectFile(at), "utf8"),
      text.replace('"Shell(npm ci)",\n', '"Shell(npm ci)",\n      "Shell(make lint)",\n'),
    );
    assert.match(stdout, /^\+ {6}"Shell\(make lint\)",$/m);
    assert.match(stdout, new RegExp(`^Written: ${projectFile(at)}:7$`, "m"));
    assert.match(stdout, new RegExp(`trust the workspace again: assent trust ${at.workspace}$`, "m"));
    assert.match(stdout, new RegExp(`to forget it: assent grants revoke ${id}$`, "m"));
  });

  test("--dry-run shows the diff and writes nothing", async () => {
    using at = place();
    const { id } = await grant(at);
    const { code, stdout } = await at.here(["grants", "promote", id, "--to", "user", "--dry-run"]);
    assert.equal(code, 0);
    assert.match(stdout, /^\+ .*"Shell\(make lint\)"$/m);
    assert.match(stdout, /^Nothing was written \(--dry-run\)\.$/m);
    const { value } = await at.hereJson(["grants", "promote", id, "--to", "user", "--dry-run"]);
    assert.deepEqual([value.file, value.line], [userFile(at), 4]);
    assert.equal(existsSync(userFile(at)), false);
  });

  test("a rule that is already there is not written twice", async () => {
    using at = place();
    const { id } = await grant(at);
    await at.here(["grants", "promote", id, "--to", "user"]);
    const before = readFileSync(userFile(at), "utf8");
    const again = await at.hereJson(["grants", "promote", id, "--to", "user"]);
    assert.deepEqual([again.code, again.value.line, again.value.diff], [0, 4, ""]);
    assert.match(
      (await at.here(["grants", "promote", id, "--to", "user"])).stdout,
      /^Shell\(make lint\) is already there: .*settings\.json:4$/m,
    );
    assert.equal(readFileSync(userFile(at), "utf8"), before);
  });

  test("two at once lose nothing", async () => {
    using at = place();
    const first = await grant(at);
    const second = await grant(at, { input: { command: "make test" } });
    const ran = await Promise.all([
      at.run(["grants", "promote", first.id, "--to", "user"]),
      at.run(["grants", "promote", second.id, "--to", "user"]),
    ]);
    assert.deepEqual(
      ran.map(({ code, stderr }) => [code, stderr]),
      [
        [0, ""],
        [0, ""],
      ],
    );
    assert.deepEqual(JSON.parse(readFileSync(userFile(at), "utf8")).permissions.allow.toSorted(), ["Shell(make lint)", "Shell(make test)"]);
    assert.equal(existsSync(`${userFile(at)}.lock`), false);
  });

  test("a path of a project's grant means the same file in the user's settings", async () => {
    using at = place();
    const { id, rule } = await grant(at, { tool: "write", input: { file_path: "src/a.txt", content: "" }, scope: "project" });
    assert.equal(rule, "Edit(/src/a.txt)");
    const own = await at.hereJson(["grants", "promote", id, "--to", "project", "--dry-run"]);
    assert.equal(own.value.rule, "Edit(/src/a.txt)");
    const { value } = await at.hereJson(["grants", "promote", id, "--to", "user"]);
    assert.equal(value.rule, `Edit(/${at.workspace}/src/a.txt)`);
    const explained = await at.hereJson(["explain", "--tool", "write", "--input", '{"file_path":"src/a.txt","content":""}']);
    assert.deepEqual([explained.value.verdict, explained.value.source], ["allow", "user permissions"]);
  });

  test("a rule bound to a script keeps what it is bound to", async () => {
    using at = place();
    at.write("package.json", '{ "name": "x", "scripts": { "test": "node --test" } }');
    const { id } = await grant(at, { input: { command: "npm test" }, scope: "project" });
    const { value } = await at.hereJson(["grants", "promote", id, "--to", "project"]);
    assert.equal(value.rule, "Shell(npm test)");
    const [written] = JSON.parse(readFileSync(projectFile(at), "utf8")).permissions.allow;
    assert.deepEqual(Object.keys(written), ["rule", "bind"]);
    assert.match(written.bind.script, /^sha256:[0-9a-f]{64}$/);
  });

  const refused: readonly (readonly [string, (at: Place) => Promise<readonly string[]>, number, string, RegExp])[] = [
    ["no --to", async (at) => [(await grant(at)).id], 2, "usage", /--to user or --to project/],
    ["an unknown id", async () => ["g_nobody", "--to", "user"], 4, "grant_not_found", /There is no grant 'g_nobody'/],
    [
      "a session's grant",
      async (at) => [(await grant(at, { scope: "session" })).id, "--to", "user"],
      1,
      "not_allowed",
      /applies to one session only/,
    ],
    [
      "a revoked grant",
      async (at) => {
        const { id } = await grant(at);
        await at.here(["grants", "revoke", id]);
        return [id, "--to", "user"];
      },
      1,
      "not_allowed",
      /is revoked; only an active grant/,
    ],
    [
      "settings that are broken",
      async (at) => {
        const { id } = await grant(at);
        put(userFile(at), "{ oops");
        return [id, "--to", "user"];
      },
      2,
      "settings_syntax",
      /settings\.json:1:3: /,
    ],
  ];
  for (const [name, argv, exit, type, message] of refused)
    test(`refused: ${name}`, async () => {
      using at = place();
      const { code, value } = await at.hereJson(["grants", "promote", ...(await argv(at))]);
      assert.deepEqual([code, value.error.type], [exit, type]);
      assert.match(value.error.message, message);
    });

  const unsound: readonly (readonly [string, string, RegExp])[] = [
    ["of another version's notation", "shell git status", /\(rule_\w+\): 'shell git status'/],
  ];
  for (const [name, rule, message] of unsound)
    test(`refused: a remembered rule that is ${name} becomes no rule of a file`, async () => {
      using at = place();
      const { value } = await at.hereJson(["call", "shell", "--input", '{"command":"make lint"}', "--on-ask", "park"]);
      const body = {
        grant: "g_aaaaaaaaaaaaaaaaaaaa",
        scope: "user",
        rule,
        tool: "shell",
        madeBy: "ada",
        approval: value.approvalId,
      } as const;
      const ledger = await openLedger({ directory: at.store });
      await ledger.answer([{ type: "grant.created", v: 1, at: new Date().toISOString(), body }]);
      await ledger.close();
      const refusal = await at.hereJson(["grants", "promote", body.grant, "--to", "user"]);
      assert.deepEqual([refusal.code, refusal.value.error.type], [1, "not_allowed"]);
      assert.match(refusal.value.error.message, message);
      assert.notEqual(refusal.value.error.hint, "");
      assert.equal(existsSync(userFile(at)), false);
    });

  test("a file that cannot be written is reported, and nothing is changed", async () => {
    using at = place();
    const { id } = await grant(at);
    put(join(at.root, ".config", "assent"), "a file where a directory should be");
    const { code, value } = await at.hereJson(["grants", "promote", id, "--to", "user"]);
    assert.deepEqual([code, value.error.type], [1, "settings_unwritable"]);
  });
});
