import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { type Place, place } from "./support/assent.ts";

/** What became of a call in yolo, where nobody can be asked. */
async function tried(
  at: Place,
  tool: "write" | "shell",
  input: object,
): Promise<{ readonly outcome: string; readonly type: string | null; readonly source: string }> {
  const { value } = await at.hereJson(["call", tool, "--input", JSON.stringify(input), "--mode", "yolo", "--on-ask", "deny"]);
  const { stdout } = await at.here(["log", value.sessionId, "--type", "call.judged", "--json"]);
  return { outcome: value.outcome, type: value.type, source: JSON.parse(stdout.trim()).body.source };
}

const DENIED = { outcome: "denied", type: "denied_by_guard", source: "own-files" };
const ASKED = { outcome: "denied", type: "denied_unattended", source: "control-file" };
const DOUBTED = { outcome: "denied", type: "denied_unattended", source: "deny-in-doubt" };

describe("in yolo, through the write tool", () => {
  const PATHS: readonly (readonly [name: string, path: string, expected: object])[] = [
    ["S18: the project's settings", ".assent/settings.json", DENIED],
    ["S18: the user's settings", "../.config/assent/settings.json", DENIED],
    ["S18: the ledger, in which trust is kept", "../store/ledger.db", DENIED],
    ["S18: a git hook that does not exist yet", ".git/hooks/pre-push", ASKED],
    ["S18: .mcp.json", ".mcp.json", ASKED],
    ["S18: ~/.bashrc", "../.bashrc", ASKED],
    ["S19: .GIT/config", ".GIT/config", ASKED],
    ["S19: .Assent/settings.json", ".Assent/settings.json", DENIED],
    ["through a link", "link/settings.json", DENIED],
  ];
  for (const [name, path, expected] of PATHS) {
    test(`${name} is not written`, async () => {
      using at = place();
      mkdirSync(at.path(".assent"));
      symlinkSync(".assent", at.path("link"));
      const existed = existsSync(at.path(path));
      assert.deepEqual(await tried(at, "write", { file_path: path, content: "x" }), expected);
      assert.equal(existsSync(at.path(path)), existed || path === "../store/ledger.db");
    });
  }
});

describe("in yolo, through a shell line", () => {
  const LINES: readonly (readonly [line: string, expected: object])[] = [
    ["echo x > .assent/settings.json", DENIED],
    ["(echo x) > .assent/settings.json", DENIED],
    ["for i in 1; do echo $i; done >> .assent/settings.json", DENIED],
    ["echo x | tee link/settings.json", DENIED],
    ["sh -c 'sed -i s/a/b/ .assent/settings.json'", DENIED],
    ["rm -rf .assent", DENIED],
    ["cat ../store/ledger.db", DENIED],
    ['cp "$HOME"/store/ledger.db x', DENIED],
    ["echo x >> ~/.bashrc", ASKED],
    ["cp x .git/hooks/pre-commit", ASKED],
    ["rm -rf .git", ASKED],
    ["git config core.fsmonitor ./x", ASKED],
    ["echo x > $TARGET", DOUBTED],
    ["rm -rf .*", DOUBTED],
  ];
  for (const [line, expected] of LINES) {
    test(`${line} is not run`, async () => {
      using at = place();
      mkdirSync(at.path(".assent"));
      symlinkSync(".assent", at.path("link"));
      assert.deepEqual(await tried(at, "shell", { command: line }), expected);
      assert.deepEqual([readdirSync(at.path(".assent")), existsSync(at.path(".git")), existsSync(at.path("x"))], [[], true, false]);
    });
  }

  test("what touches nothing of the kind runs", async () => {
    using at = place();
    assert.equal((await tried(at, "shell", { command: "mkdir -p out && echo x > out/a.txt; ls $NOWHERE" })).outcome, "succeeded");
    assert.ok(existsSync(at.path("out/a.txt")));
  });
});

test("S16: an edit behind a link that leads out, or by dots, asks, and nothing is written outside", async () => {
  using at = place();
  const outside = join(at.root, "outside");
  mkdirSync(outside);
  symlinkSync(outside, at.path("link"));
  for (const file_path of ["link/x", "a/../../outside/y"]) {
    const { value } = await at.hereJson([
      "call",
      "write",
      "--input",
      JSON.stringify({ file_path, content: "x" }),
      "--mode",
      "auto-edit",
      "--on-ask",
      "park",
    ]);
    assert.equal(value.outcome, "waiting");
    const { facts } = (await at.hereJson(["approvals", "show", value.approvalId])).value;
    assert.equal(dirname(facts.paths[0].real), outside);
  }
  assert.deepEqual(readdirSync(outside), []);
});

test("S17: approved, then the parent becomes a link to the home: nothing is written there", async () => {
  using at = place();
  mkdirSync(at.path("dir"));
  const { value } = await at.hereJson(["call", "write", "--input", '{"file_path":"dir/f","content":"x"}', "--on-ask", "park"]);
  assert.equal((await at.here(["approve", value.approvalId])).code, 0);
  renameSync(at.path("dir"), at.path("old"));
  const home = join(at.root, "home");
  mkdirSync(home);
  writeFileSync(join(home, "kept"), "");
  symlinkSync(home, at.path("dir"));
  const end = await at.hereJson(["resume", value.sessionId]);
  assert.deepEqual([end.code, end.value.outcome, end.value.type], [1, "denied", "operand_changed"]);
  assert.deepEqual(readdirSync(home), ["kept"]);
});
