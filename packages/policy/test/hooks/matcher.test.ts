import assert from "node:assert/strict";
import { test } from "node:test";
import { compileMatcher } from "../../src/hooks/read.ts";

const ROWS: readonly (readonly [text: string, value: string, expected: boolean])[] = [
  ["Bash", "Bash", true],
  ["Bash", "BashOutput", false],
  ["Bash", "MyBash", false],
  ["Bash", "bash", false],
  ["Edit|Write", "Write", true],
  ["Edit|Write", "Writer", false],
  ["mcp__memory__.*", "mcp__memory__create", true],
  ["mcp__.*__write.*", "mcp__fs__write_file", true],
  ["mcp__memory", "mcp__memory__create", false],
  ["Notebook.*", "NotebookEdit", true],
  [".*", "two\nlines", true],
  ["^Bash$", "Bash", true],
  ["startup|resume", "clear", false],
];
for (const [text, value, expected] of ROWS) {
  test(`${text} ${expected ? "matches" : "does not match"} ${JSON.stringify(value)}`, () => {
    const compiled = compileMatcher(text);
    assert.ok("matches" in compiled);
    assert.equal(compiled.matches?.(value), expected);
  });
}

for (const text of ["", "*"]) {
  test(`'${text}' matches everything`, () => assert.deepEqual(compileMatcher(text), { matches: undefined }));
}

for (const text of ["(", "[", "**", "a)|(b", "+"]) {
  test(`${text} is not a regular expression`, () => assert.ok("problem" in compileMatcher(text)));
}
