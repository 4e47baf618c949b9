import assert from "node:assert/strict";
import { test } from "node:test";
import { parseIgnoreRules } from "../../src/files/ignore-rules.ts";

type Row = readonly [name: string, lines: string, path: string, ignored: boolean | undefined];

const ROWS: readonly Row[] = [
  ["a name is meant at any depth", "a.ts", "x/y/a.ts", true],
  ["a name is not a part of a name", "a.ts", "ba.ts", undefined],
  ["case counts", "A.ts", "a.ts", undefined],
  ["a star stays within a name", "a*c", "a/c", undefined],
  ["a star also means a dot at the start", "*.log", ".log", true],
  ["a question mark is one character", "?.ts", "ab.ts", undefined],
  ["a question mark is one character, whatever its width", "?.ts", "😀.ts", true],
  ["a class", "[a-c].ts", "b.ts", true],
  ["a class that excludes", "[!a-c].ts", "b.ts", undefined],
  ["the other spelling of it", "[^a-c].ts", "x.ts", true],
  ["a bracket that comes first in its class", "[]x[]", "]", true],
  ["a class that is not closed means nothing", "[a", "[a", undefined],
  ["a backslash makes the next character plain", "\\*.ts", "a.ts", undefined],
  ["a backslash at the end means nothing", "a\\", "a\\", undefined],
  ["a slash at the start ties to the directory", "/a.ts", "x/a.ts", undefined],
  ["a slash at the start, in the directory itself", "/a.ts", "a.ts", true],
  ["a slash in the middle ties too", "x/a.ts", "y/x/a.ts", undefined],
  ["a slash at the end does not tie", "x/", "y/x/", true],
  ["a slash at the end means directories only", "x/", "y/x", undefined],
  ["two stars at the start: any depth, also none", "**/x/a", "x/a", true],
  ["two stars in the middle: any depth", "a/**/b", "a/x/y/b", true],
  ["two stars in the middle: also none", "a/**/b", "a/b", true],
  ["two stars at the end: what is inside", "a/**", "a/b/c", true],
  ["two stars at the end: not the directory itself", "a/**", "a/", undefined],
  ["two stars within a name are one", "a**c", "a/c", undefined],
  ["two stars alone mean everything", "**", "a/b", true],
  ["the last line that matches has the say", "*.ts\n!a.ts", "a.ts", false],
  ["whatever came before", "!a.ts\n*.ts", "a.ts", true],
  ["nothing is said of the rest", "*.ts\n!a.ts", "a.js", undefined],
  ["a comment", "# a\n#a", "#a", undefined],
  ["an escaped hash", "\\#a", "#a", true],
  ["an escaped exclamation mark", "\\!a", "!a", true],
  ["blank lines say nothing", "\n  \n\r\n/\n", "a", undefined],
  ["blanks at the end do not count", "a  ", "a", true],
  ["unless they are escaped", "a\\ ", "a ", true],
  ["a backslash that is escaped itself escapes nothing", "a\\\\ ", "a\\", true],
  ["lines of another system", "a\r\nb\r\n", "a", true],
  ["a mark at the start of the file", "\ufeffa", "a", true],
  ["many stars do not take long", `${"*a".repeat(2000)}b`, "a".repeat(4000), undefined],
];

for (const [name, lines, path, ignored] of ROWS) {
  test(`an ignore file: ${name}`, () => {
    const isDirectory = path.endsWith("/");
    assert.equal(parseIgnoreRules(lines)(isDirectory ? path.slice(0, -1) : path, isDirectory), ignored);
  });
}
