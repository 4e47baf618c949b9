import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { findNestedInstructions, isNestedWorkspace } from "../../src/trust/nested-instructions.ts";
import { scratch } from "../scratch.ts";

function lay(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = scratch(t);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

const ROWS: readonly (readonly [sentence: string, files: Readonly<Record<string, string>>, found: readonly string[]])[] = [
  ["both names, by their order", { "b/CLAUDE.md": "2", "a/b/AGENTS.md": "1", "a/readme.md": "x" }, ["a/b/AGENTS.md", "b/CLAUDE.md"]],
  ["not those of the root, which the digest covers", { "AGENTS.md": "1", "CLAUDE.md": "2" }, []],
  [
    "none of dependencies and of Assent's own directory",
    { "node_modules/a/AGENTS.md": "1", "a/.assent/AGENTS.md": "2", ".git/AGENTS.md": "3" },
    [],
  ],
  [
    "none below a nested repository or workspace",
    { "a/.git": "gitdir: x", "a/b/AGENTS.md": "1", "c/.assent/x": "", "c/AGENTS.md": "2" },
    [],
  ],
  ["none that is too large to be read by a person", { "a/AGENTS.md": "x".repeat(2 ** 20 + 1), "b/AGENTS.md": "fine" }, ["b/AGENTS.md"]],
  [
    "none deeper than the limit",
    { [`${"d/".repeat(16)}AGENTS.md`]: "1", [`${"d/".repeat(17)}AGENTS.md`]: "2" },
    [`${"d/".repeat(16)}AGENTS.md`],
  ],
];
for (const [sentence, files, found] of ROWS) {
  test(`instructions below the root: ${sentence}`, (t) => {
    const root = lay(t, files);
    assert.deepEqual(
      findNestedInstructions(root).map(({ name, bytes }) => [name, Buffer.from(bytes).toString()]),
      found.map((name) => [name, files[name]]),
    );
  });
}

test("links and pipes are no instructions", (t) => {
  const root = lay(t, { "a/real.md": "x" });
  symlinkSync("real.md", join(root, "a/AGENTS.md"));
  symlinkSync("a", join(root, "b"));
  mkdirSync(join(root, "c"));
  execFileSync("mkfifo", [join(root, "c/AGENTS.md")]);
  assert.deepEqual(findNestedInstructions(root), []);
});

test("a directory with .git or .assent is a workspace of its own", (t) => {
  const root = lay(t, { "a/.git/HEAD": "x", "b/.git": "gitdir: elsewhere", "c/.assent/settings.json": "{}", "d/x": "" });
  assert.deepEqual(
    ["a", "b", "c", "d"].map((name) => isNestedWorkspace(join(root, name))),
    [true, true, true, false],
  );
});
