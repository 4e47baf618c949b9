import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import { isHarmlessSed } from "../../../src/shell/programs/sed-script.ts";

const HARMLESS = [
  "a x",
  "1i x; w out",
  "c x\np",
  "y/a/b/;p",
  "Q",
  "p",
  "1,20p",
  "$p",
  "/a/,/b/p",
  "0~3p",
  "2,+4p",
  "2,~4p",
  "1!p",
  "$!{N;p}",
  "/a/I{s/x/y/gp;n;p;}",
  "s/a\\/b/c/p",
  "s|[/]|x|2p",
  "/[a-z[:digit:]]/p",
  "/[]x]/p",
  "/[^]x]/p",
  "/[\\t ]/p",
  "5q",
  "q1",
  "l5",
  "h;H;g;G;x;=;d;P",
  "p\np",
  " p ; p ",
  "; p",
  "\n p",
];

const NOT = [
  "a\\\nx",
  "a x\\\nw out",
  "a x\nw out",
  "a",
  "{i x}",
  "y/a/b/w out",
  "y/a",
  "w x",
  "1w x",
  "s/a/b/w x",
  "s/a/b/e",
  "e",
  "r x",
  "R x",
  "W x",
  "F",
  "b",
  ":a",
  "#p",
  "p;#",
  "{p",
  "p}",
  "s/a/b",
  "/a",
  "pp",
  "p w",
  "s/a\nb/c/",
  "/[/]/p",
  "s/[/]/p",
  "s/[/]/x/",
  "s,[,],p",
  "/[\\]/]/p",
  "/a[b/p",
  "\\xax",
  "s\\a\\b\\",
  "s\na\nb\n",
  "1,p",
  "D",
  "z",
  "p;w x",
  "}p{",
  "s/a/b/ w x",
];

test("scripts that only select, change and print lines are harmless", () => {
  for (const script of HARMLESS) {
    assert.equal(isHarmlessSed(script), true, script);
    const { status, stderr } = spawnSync("sed", ["-n", "--sandbox", script, "/dev/null"], { encoding: "utf8" });
    assert.deepEqual([script, status === 0 || script === "q1", stderr], [script, true, ""]);
  }
});

test("scripts that do more or are not understood are not harmless", () => {
  for (const script of NOT) assert.equal(isHarmlessSed(script), false, script);
});

test("sed's sandbox accepts every harmless script", () => {
  const tokens = [
    "p",
    "d",
    "q",
    "n",
    "s/",
    "/",
    "s|",
    "|",
    "g",
    "I",
    "2",
    "$",
    "1,3",
    "/a/",
    "/[",
    "[",
    "]",
    "[^",
    "[:alpha:]",
    "\\",
    "\\/",
    "\\]",
    "\\n",
    "\n",
    ";",
    "{",
    "}",
    "!",
    "w x",
    "w",
    "e",
    "e id",
    "r x",
    "W x",
    "R x",
    "F",
    " ",
    "\\c",
    "a x",
    "i\\",
    "c ",
    "y/",
    "~",
    "+2",
  ];
  const scripts = fc.sample(
    fc.array(fc.constantFrom(...tokens), { minLength: 1, maxLength: 9 }).map((parts) => parts.join("")),
    4_000,
  );
  const passing = scripts.filter(isHarmlessSed);
  assert.ok(passing.length > 20);
  for (const script of passing) {
    const { stderr } = spawnSync("sed", ["-n", "--sandbox", "-e", script, "/dev/null"], { encoding: "utf8" });
    assert.ok(!stderr.includes("sandbox"), `${JSON.stringify(script)}: ${stderr}`);
  }
});
