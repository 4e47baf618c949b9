import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { describe, test } from "node:test";
import { type Place, place } from "../support/assent.ts";

/** A repository with a hook that leaves a mark, and a package with a script. */
function repository(at: Place): void {
  rmSync(at.path(".git"), { recursive: true });
  const git = (...args: readonly string[]): void => void execFileSync("git", args, { cwd: at.workspace, env: at.env });
  git("init", "-q", "-b", "main");
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.test");
  mkdirSync(at.path(".git/hooks"), { recursive: true });
  at.write(".git/hooks/pre-commit", "#!/bin/sh\ntouch hook-ran\n");
  execFileSync("chmod", ["+x", at.path(".git/hooks/pre-commit")]);
  at.write("a.txt", "a\n");
  at.write("package.json", JSON.stringify({ scripts: { lint: "echo linted" } }));
  git("add", "a.txt");
}

const call = (command: string, ...more: readonly string[]): readonly string[] => [
  "call",
  "shell",
  "--input",
  JSON.stringify({ command }),
  ...more,
];

describe("a command allowed by its first words", () => {
  test("a rule for git commit commits without asking, with the repository's hooks", async () => {
    using at = place();
    repository(at);
    const { code, value } = await at.hereJson(call("git commit -m 'first words'", "--allow", "Shell(git commit *)"));
    assert.deepEqual([code, value.outcome], [0, "succeeded"], value.content);
    assert.ok(existsSync(at.path("hook-ran")));
    const log = execFileSync("git", ["log", "--format=%s"], { cwd: at.workspace, env: at.env, encoding: "utf8" });
    assert.equal(log, "first words\n");
  });

  test("a described git command next to it still runs without programs of the repository", async () => {
    using at = place();
    repository(at);
    execFileSync("git", ["config", "core.fsmonitor", "touch monitor-ran; false"], { cwd: at.workspace, env: at.env });
    const { value } = await at.hereJson(call("git status --short", "--allow", "Shell(git status)"));
    assert.equal(value.outcome, "succeeded", value.content);
    assert.ok(!existsSync(at.path("monitor-ran")));
  });

  test("the approval offers the exact words and the prefix, with its risk", async () => {
    using at = place();
    repository(at);
    const { value } = await at.hereJson(call("npm run lint", "--on-ask", "park"));
    const { stdout } = await at.here(["approvals", "show", value.approvalId]);
    assert.match(stdout, /^always +\{"rule":"Shell\(npm run lint\)"/m);
    assert.match(stdout, /^or +Shell\(npm run \*\)\n +It runs scripts of this repository, with any arguments\.$/m);
    const shown = await at.hereJson(["approvals", "show", value.approvalId]);
    assert.deepEqual(shown.value.preview.wider, {
      rules: ["Shell(npm run *)"],
      risk: "It runs scripts of this repository, with any arguments.",
    });
  });

  test("a prefix that is remembered answers the next such call, and nothing else", async () => {
    using at = place();
    repository(at);
    const first = await at.hereJson(call("npm run lint", "--on-ask", "park"));
    const approve = ["approve", first.value.approvalId, "--remember", "project", "--pattern", "Shell(npm run *)"];
    assert.equal((await at.here(approve)).code, 0);
    const next = await at.hereJson(call("npm run lint --silent"));
    assert.equal(next.value.outcome, "succeeded", next.value.content);
    assert.match(next.value.content, /linted/);
    for (const command of ["npm run lint; touch x", "npm run lint --script-shell=./x", "npm install x"])
      assert.equal((await at.hereJson(call(command, "--on-ask", "park"))).code, 75, command);
  });

  test("explain names the rule that matches but cannot allow, and why", async () => {
    using at = place();
    repository(at);
    const settings = at.write("p.json", JSON.stringify({ permissions: { allow: ["Shell(git commit *)"] } }));
    const explain = ["explain", "--policy", settings, "--tool", "shell", "--input", '{"command":"git commit -F ../x"}'];
    assert.match(
      (await at.here(explain)).stdout,
      /^Shell\(git commit \*\) \(.+p\.json:1:\d+\) matches but cannot allow it: \.\.\/x is outside the workspace\.$/m,
    );
    const { value } = await at.hereJson(explain);
    assert.deepEqual(
      value.misses.map(({ rule, unit, why }: Miss) => [rule.text, unit, why]),
      [["Shell(git commit *)", 0, "../x is outside the workspace"]],
    );
  });
});

type Miss = { readonly rule: { readonly text: string }; readonly unit: number; readonly why: string };
