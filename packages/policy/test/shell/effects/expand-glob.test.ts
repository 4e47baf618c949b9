import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { expandGlobs } from "../../../src/shell/effects/expand-glob.ts";
import type { PlainWord } from "../../../src/shell/read/strict-reader.ts";
import { type Files, sampleWorkspace } from "../sample-workspace.ts";

const FILES: Files = {
  "src/b.ts": "",
  "src/a.ts": "",
  "src/B.ts": "",
  "src/.hidden.ts": "",
  "src/sub/a.ts": "",
  "src/sub/deep/x.ts": "",
  "src/\u00e9.ts": "",
  "top.md": "",
  "src/li nk": "-> sub",
  "src/dist.tsx.ts": "",
  "src/dangling": "-> gone",
};

function words(...texts: readonly string[]): readonly PlainWord[] {
  return texts.map((text) => ({ text, glob: /[*?]/.test(text) }));
}

const PATTERNS = [
  "src/*.ts",
  "./*.md",
  "src/?.ts",
  "src/.*.ts",
  "src/*/a.ts",
  "src/*/",
  "src/*/*.ts",
  "src/*/*/*.ts",
  "src/**",
  "src/sub/../*.ts",
  "./src/*",
  "src/*x*",
  "src/*.nothing",
  "gone/*",
  "top.md/*",
  "src/a*.t?",
  "src/*b*/*",
  "src/*.ts*.ts",
  "src/*s.ts",
  "src/*/gone.ts",
  "src/*/deep",
  "src/*/deep/",
  "src/*/a.ts/",
  "src/d*g",
  "src/???.ts",
  "src/?*?",
];

for (const pattern of PATTERNS) {
  test(`${pattern} expands as in bash`, (t) => {
    const { workspace, look } = sampleWorkspace(t, FILES);
    const bash = execFileSync("/bin/bash", ["--noprofile", "--norc", "-c", `printf '%s\\0' ${pattern}`], {
      cwd: workspace,
      env: { LC_ALL: "C.UTF-8" },
      encoding: "utf8",
    });
    const argv = bash
      .split("\0")
      .slice(0, -1)
      .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    assert.deepEqual(expandGlobs(words("ls", pattern), { cwd: workspace, look }), { argv: ["ls", ...argv] });
  });
}

test("words without patterns stay in place", (t) => {
  const { workspace, look } = sampleWorkspace(t, FILES);
  const mixed: readonly PlainWord[] = [...words("cat", "-n"), { text: "*", glob: false }, ...words("src/sub/*.ts", "x")];
  assert.deepEqual(expandGlobs(mixed, { cwd: workspace, look }), { argv: ["cat", "-n", "*", "src/sub/a.ts", "x"] });
});

test("a pattern is expanded for programs that the table describes", (t) => {
  const { workspace, look } = sampleWorkspace(t, FILES);
  for (const name of ["ls", "cat", "grep", "echo", "find", "git", "stat"])
    assert.deepEqual(expandGlobs(words(name, "src/sub/*.ts"), { cwd: workspace, look }), { argv: [name, "src/sub/a.ts"] });
});

const HOSTILE = { out: "-> /etc", "l/out": "-> /etc", "-l": "", "--include=x.ts": "", "-d/x": "" };

test("a pattern without a match stays, as in an option", (t) => {
  const { workspace, look } = sampleWorkspace(t, FILES);
  for (const argv of [
    ["grep", "-r", "x", "--include=*.ts"],
    ["ls", "*.none"],
    ["ls", "-l/*"],
  ])
    assert.deepEqual(expandGlobs(words(...argv), { cwd: workspace, look }), { argv });
});

const REFUSED: readonly (readonly [sentence: string, id: string, ...lines: (readonly string[])[]])[] = [
  ["only for programs that the table describes", "brace_or_glob", ["rm", "src/*"], ["make", "*"], ["cd", "s*"], ["unknown", "*"]],
  ["only to names that can't be options", "brace_or_glob", ["ls", "-*"], ["ls", "?l"], ["grep", "x", "--include=*.ts"], ["ls", "-d/*"]],
  ["only without empty names", "brace_or_glob", ["ls", "src/*//a"]],
  [
    "only inside the workspace",
    "outside_workspace",
    ["ls", "/etc/*"],
    ["ls", "../*"],
    ["ls", "src/../../*"],
    ["cat", "out/*"],
    ["cat", "l/*/*"],
    ["ls", "/*"],
  ],
];

for (const [sentence, id, ...lines] of REFUSED) {
  test(`a pattern is expanded ${sentence}`, (t) => {
    const { workspace, look } = sampleWorkspace(t, { ...FILES, ...HOSTILE });
    for (const line of lines) {
      const expanded = expandGlobs(words(...line), { cwd: workspace, look });
      assert.equal("refused" in expanded && expanded.refused.id, id, line.join(" "));
    }
  });
}

test("more than 1,000 results are refused", (t) => {
  const { workspace, look } = sampleWorkspace(t, {});
  mkdirSync(join(workspace, "many"));
  for (let i = 0; i < 1_001; i++) writeFileSync(join(workspace, "many", `f${i}`), "");
  assert.ok("refused" in expandGlobs(words("ls", "many/*"), { cwd: workspace, look }));
  assert.ok("refused" in expandGlobs(words("ls", "many/*1*", "many/*2*", "many/*3*", "many/*4*"), { cwd: workspace, look }));
  const some = expandGlobs(words("ls", "many/*00"), { cwd: workspace, look });
  assert.deepEqual("argv" in some && some.argv.length, 11);
});
