import assert from "node:assert/strict";
import { test } from "node:test";
import { compilePathGlob, expandBraces } from "../../src/files/path-glob.ts";

const ROWS: readonly (readonly [name: string, glob: string, path: string, meant: boolean])[] = [
  ["a name", "a.ts", "a.ts", true],
  ["a name in a directory", "a.ts", "x/a.ts", false],
  ["a star stays within a name", "*.ts", "x/a.ts", false],
  ["a star in the middle", "a*c.ts", "abbc.ts", true],
  ["stars on both sides", "*b*", "abc", true],
  ["two stars are any number of names", "**/a.ts", "x/y/a.ts", true],
  ["also none", "**/a.ts", "a.ts", true],
  ["two stars twice", "a/**/b/**/c", "a/b/x/b/y/c", true],
  ["two stars at the end", "a/**", "a/b/c", true],
  ["the last names have to be there", "a/**/b", "a/b/c", false],
  ["an escaped star", "a\\*", "a*", true],
  ["an escaped star is no star", "a\\*", "ab", false],
  ["a class", "[a-c]/x", "b/x", true],
  ["a class never is a slash", "a[!b]c", "a/c", false],
];
for (const [name, glob, path, meant] of ROWS) {
  test(`a glob over paths: ${name}: ${meant}`, () => assert.equal(compilePathGlob(glob)(path.split("/")), meant));
}

const BRACES: readonly (readonly [name: string, glob: string, globs: readonly string[]])[] = [
  ["alternatives", "a.{ts,tsx}", ["a.ts", "a.tsx"]],
  ["two of them", "{a,b}/{c,d}", ["a/c", "a/d", "b/c", "b/d"]],
  ["one in the other", "{a,b{c,d}}", ["a", "bc", "bd"]],
  ["an empty one", "a{,.bak}", ["a", "a.bak"]],
  ["none", "a", ["a"]],
  ["braces without a comma", "{a}", ["{a}"]],
  ["braces that are not closed", "{a,b", ["{a,b"]],
  ["too many to write out", "{a,b}".repeat(20), ["{a,b}".repeat(20)]],
];
for (const [name, glob, globs] of BRACES) {
  test(`a glob without braces: ${name}`, () => assert.deepEqual([...new Set(expandBraces(glob))].sort(), globs));
}
