import assert from "node:assert/strict";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import type { JsonObject } from "@assent/core";
import { createPolicyFacts } from "../../src/facts/facts.ts";
import { createPathLookup } from "../../src/paths/lookup.ts";
import { request, rule } from "../rules/rule-bench.ts";
import { scratch } from "../scratch.ts";

const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

type Situation = { readonly env?: Readonly<Record<string, string>>; readonly fields?: JsonObject; readonly allow?: string };

function workspaceWithTraps(t: TestContext): string {
  const root = scratch(t);
  for (const directory of ["src", "bin", ".git", "dashes"]) mkdirSync(join(root, directory));
  for (const file of ["a.txt", "a.ts", "src/b.ts", ".env", "dashes/-delete"]) writeFileSync(join(root, file), "x\n");
  for (const name of ["ls", "touch", "bin/ls"]) {
    writeFileSync(join(root, name), "#!/bin/sh\n");
    chmodSync(join(root, name), 0o755);
  }
  return root;
}

/** Whether the line is allowed because it only reads, or by the rule. */
async function isAllowed(workspace: string, command: string, { env = {}, fields, allow }: Situation): Promise<boolean> {
  const look = createPathLookup({ workspace });
  const facts = createPolicyFacts({ workspace, look, outside: { env: { PATH: SYSTEM_PATH, ...env } } });
  const input: JsonObject = { command, ...(fields && { more: fields }) };
  const { units, safe } = await facts({ tool: "shell", kind: "execute", input, cwd: workspace, locations: undefined });
  if (allow === undefined) return safe === true && units.every(({ readOnly }) => readOnly);
  const { test: matches } = rule("allow", `Shell(${allow})`);
  return units.every((unit) => matches(request("shell"), unit) === "yes");
}

describe("a line of another agent's shell only reads", () => {
  for (const line of [
    "ls src",
    "ls -la",
    "cat a.txt",
    "grep foo a.ts",
    "wc -l a.txt",
    "cat a.txt | head -n 3",
    "cd src && ls",
    "cat < a.txt",
    "find src -name '*.ts'",
    "echo '$HOME *'",
    "ls src 2>/dev/null",
    "ls src # a comment",
    "ls\ncat a.txt",
  ])
    test(line, async (t) => assert.equal(await isAllowed(workspaceWithTraps(t), line, {}), true));
});

const TRAPS: readonly [sentence: string, line: string, situation?: Situation][] = [
  ["a pattern, which may expand to options", "find dashes/*"],
  ["a pattern of one character", "cat a.tx?"],
  ["a home directory", "ls ~"],
  ["a home directory below it", "cat ~/a.txt"],
  ["another user's home directory", "ls ~root"],
  ["a variable whose value Assent knows", "ls $HOME"],
  ["a quoted variable", 'ls "$PWD"'],
  ["an unknown variable", "ls $X"],
  ["braces", "cat {a,b}.txt"],
  ["a substitution", "cat $(echo a.txt)"],
  ["backquotes", "cat `echo a.txt`"],
  ["an assignment before a command", "FOO=1 ls"],
  ["an assignment through env", "env FOO=1 ls"],
  ["a function", "ls() { touch x; }; ls"],
  ["an alias", "alias ls=touch; ls x"],
  ["a here-string", "cat <<< a"],
  ["a here-document", "cat <<E\n$(touch x)\nE"],
  ["a process substitution", "cat <(touch x)"],
  ["a carriage return", "ls\r\ntouch x"],
  ["a second line that writes", "ls\ntouch x"],
  ["a background command", "ls & touch x"],
  ["an output redirection", "ls > x"],
  ["a file with secrets", "cat .env"],
  ["a search through a directory, where Assent would skip secrets", "grep -r x ."],
  ["git, whose settings may start programs", "git status"],
  ["git after an assignment", "FOO=1 git status"],
  ["git in another directory", "git -C src status"],
  ["ripgrep, which a variable may configure", "rg x a.txt"],
  ["the environment", "env"],
  ["a version, which node prints after loading what NODE_OPTIONS names", "node --version"],
  ["npm, which Assent keeps from writing", "npm ls"],
  ["files from a pipe", "ls | xargs cat"],
  ["a program of the workspace by its path", "./ls src"],
  ["the workspace first on PATH by a dot", "ls src", { env: { PATH: `.:${SYSTEM_PATH}` } }],
  ["the workspace first on PATH by an empty entry", "ls src", { env: { PATH: `:${SYSTEM_PATH}` } }],
  ["a relative directory on PATH", "ls src", { env: { PATH: `bin:${SYSTEM_PATH}` } }],
  ["no PATH", "ls src", { env: { PATH: "" } }],
  ["cd with CDPATH", "cd src && ls", { env: { CDPATH: "/tmp" } }],
  ["a field that Assent doesn't know", "ls src", { fields: { shell: "/tmp/sh" } }],
  ["a call without the agent's sandbox", "ls src", { fields: { dangerouslyDisableSandbox: true } }],
];

describe("a line of another agent's shell needs approval if it has", () => {
  for (const [sentence, line, situation = {}] of TRAPS)
    test(sentence, async (t) => assert.equal(await isAllowed(workspaceWithTraps(t), line, situation), false));

  test("another program of the same name first on PATH", async (t) => {
    const [workspace, other] = [workspaceWithTraps(t), scratch(t)];
    writeFileSync(join(other, "ls"), "#!/bin/sh\n", { mode: 0o755 });
    assert.equal(await isAllowed(workspace, "ls src", { env: { PATH: `${other}:${SYSTEM_PATH}` } }), false);
  });

  test("a link on PATH that leads into the workspace", async (t) => {
    const [workspace, other] = [workspaceWithTraps(t), scratch(t)];
    symlinkSync(join(workspace, "ls"), join(other, "ls"));
    assert.equal(await isAllowed(workspace, "ls src", { env: { PATH: `${other}:${SYSTEM_PATH}` } }), false);
  });
});

describe("an allow rule and a line of another agent's shell", () => {
  const cases: readonly [sentence: string, line: string, allow: string, allowed: boolean, situation?: Situation][] = [
    ["a rule with all words allows it", "touch src/x", "touch src/x", true],
    ["a rule with a star allows more words", "touch src/x", "touch *", true],
    ["a rule allows git by name", "git status", "git status", true],
    ["a rule allows git with a star", "git log --oneline", "git log *", true],
    ["a rule for git without a star does not cover more words", "git log --oneline", "git log", false],
    ["a background run is allowed", "touch src/x", "touch src/x", true, { fields: { run_in_background: true } }],
    ["a field that says no is allowed", "touch src/x", "touch src/x", true, { fields: { dangerouslyDisableSandbox: false } }],
    ["a pattern is not allowed", "touch src/*", "touch *", false],
    ["a variable is not allowed", "touch $HOME", "touch *", false],
    ["an assignment is not allowed", "FOO=1 touch src/x", "touch *", false],
    ["a tilde is not allowed", "touch ~/x", "touch *", false],
    ["a program of the workspace on PATH is not allowed", "touch src/x", "touch *", false, { env: { PATH: `.:${SYSTEM_PATH}` } }],
    ["an unknown field is not allowed", "touch src/x", "touch *", false, { fields: { shell: "/tmp/sh" } }],
  ];
  for (const [sentence, line, allow, allowed, situation = {}] of cases)
    test(sentence, async (t) => assert.equal(await isAllowed(workspaceWithTraps(t), line, { ...situation, allow }), allowed));

  for (const [mode, allowed] of [
    [0o755, true],
    [0o777, false],
  ] as const)
    test(`a program that only the agent's PATH leads to is ${allowed ? "" : "not "}allowed from a directory with mode ${mode.toString(8)}`, async (t) => {
      const [workspace, other] = [workspaceWithTraps(t), scratch(t)];
      writeFileSync(join(other, "mytool"), "#!/bin/sh\n", { mode: 0o755 });
      chmodSync(other, mode);
      const situation = { allow: "mytool *", env: { PATH: `${SYSTEM_PATH}:${other}` } };
      assert.equal(await isAllowed(workspace, "mytool x", situation), allowed);
    });

  for (const [target, allowed] of [
    ["other.js", true],
    ["assent.js", false],
  ] as const)
    test(`a link on PATH to ${target} is ${allowed ? "" : "not "}allowed`, async (t) => {
      const [workspace, other] = [workspaceWithTraps(t), scratch(t)];
      writeFileSync(join(other, target), "#!/usr/bin/env node\n", { mode: 0o755 });
      symlinkSync(target, join(other, "mytool"));
      const situation = { allow: "mytool *", env: { PATH: `${SYSTEM_PATH}:${other}` } };
      assert.equal(await isAllowed(workspace, "mytool approve", situation), allowed);
    });
});
