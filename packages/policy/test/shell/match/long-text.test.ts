import assert from "node:assert/strict";
import { test } from "node:test";
import { deletesRootInLongText, scanLongText } from "../../../src/shell/match/long-text.ts";

const DENIES = [["curl"], ["git", "push"], ["git", "push", "--force"], ["sudo"], ["rm", "-rf", "x"]] as const;

const ROWS: readonly (readonly [name: string, text: string, hit: number | undefined])[] = [
  ["at the start", "curl x", 0],
  ["after blanks", " \t curl x", 0],
  ["after a newline", "ls\ncurl x", 0],
  ["after a semicolon", "ls;curl x", 0],
  ["after a semicolon and blanks", "ls;  curl x", 0],
  ["after &&", "ls && curl x", 0],
  ["after a pipe", "ls |curl", 0],
  ["several words", "ls; git  push\torigin", 1],
  ["words of another deny as well: the first is named", "git push --force", 1],
  ["with a path", "/usr/bin/curl x", 0],
  ["in upper case", "CURL x", 0],
  ["with quotes", "'cu'rl x", 0],
  ["with a backslash", "\\curl x", 0],
  ["a longer name", "curlie x", undefined],
  ["an argument", "echo curl", undefined],
  ["words not next to each other", "git log push", undefined],
  ["part of the words", "git", undefined],
  ["the words over two commands", "git; push", undefined],
  ["nothing", "", undefined],
];

for (const [name, text, hit] of ROWS) {
  test(`the scan of long text finds a deny ${name}: ${JSON.stringify(text)}`, () => assert.equal(scanLongText(text, DENIES), hit));
}

test("70 KB of true; then curl on a new line is found, without it nothing is", () => {
  const filler = "true;".repeat(14_000);
  assert.equal(scanLongText(`${filler}\ncurl x`, DENIES), 0);
  assert.equal(scanLongText(filler, DENIES), undefined);
});

test("the last of 5,000 commands is found", () => {
  assert.equal(scanLongText(`${"git status && ".repeat(4_999)}git push`, DENIES), 1);
});

test("the scan is linear: a megabyte of near misses, and of one word", () => {
  assert.equal(scanLongText("git pus;".repeat(125_000), DENIES), undefined);
  assert.equal(scanLongText("c".repeat(1_000_000), DENIES), undefined);
  assert.equal(scanLongText("git ".repeat(250_000), DENIES), undefined);
});

test("the first of two equal rules is reported", () => assert.equal(scanLongText("sudo x", [["curl"], ["sudo"], ["sudo"]]), 1));

test("without rules there is no match", () => assert.equal(scanLongText("curl x", []), undefined));

const ROOT: readonly (readonly [text: string, found: boolean])[] = [
  ["rm -rf /", true],
  ["true;\nrm -fr /*", true],
  ["ls && rm --recursive -f /home/..", true],
  ["ls; /bin/rm -r -f -- /", true],
  ["ls; 'rm' / -R", true],
  ["rm -rf /tmp", false],
  ["rm -f /", false],
  ["echo rm -rf /", false],
  ["rm -rf x; ls /", false],
];
for (const [text, found] of ROOT) {
  test(`root-delete in long text: ${JSON.stringify(text)} is ${found ? "" : "not "}found`, () => {
    assert.equal(deletesRootInLongText(text), found);
    assert.equal(deletesRootInLongText(`${"true;".repeat(1_000)}\n${text}`), found);
  });
}
