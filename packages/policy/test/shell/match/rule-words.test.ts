import assert from "node:assert/strict";
import { test } from "node:test";
import { readRuleWords } from "../../../src/shell/match/rule-words.ts";

/** A glob word is written `/like this/`. */
const READ: readonly (readonly [name: string, text: string, words: readonly string[], tail: boolean])[] = [
  ["words at blanks", "git  push\torigin", ["git", "push", "origin"], false],
  ["blanks around", "  ls  ", ["ls"], false],
  ["nothing", "", [], false],
  ["a final star is the tail", "git *", ["git"], true],
  ["a star alone", "*", [], true],
  ["a star in between is a word", "git push * +*", ["git", "push", "/*/", "/+*/"], false],
  ["the tail with a colon", "git:*", ["git"], true],
  ["the tail with a colon after several words", "git push:*", ["git", "push"], true],
  ["a quoted star is text", "git '*'", ["git", "*"], false],
  ["an escaped star is text", "git \\*", ["git", "*"], false],
  ["a quoted blank", "git 'a b' \"c d\" e\\ f", ["git", "a b", "c d", "e f"], false],
  ["quotes inside a word", "c'ur'l", ["curl"], false],
  ["an empty word", "x ''", ["x", ""], false],
  ["escapes in double quotes", 'x "a\\"b\\\\c\\$d\\n"', ["x", 'a"b\\c$d\\n'], false],
  ["what a shell would expand, in single quotes", "x '$(a) `b` ; | > ~'", ["x", "$(a) `b` ; | > ~"], false],
  ["a glob with quoted characters", "x a*'*'", ["x", "/a*\\*/"], false],
  ["a class", "x [ab]", ["x", "/[ab]/"], false],
  ["a question mark", "x a?", ["x", "/a?/"], false],
  ["the command of that name", "[ -f x", ["[", "-f", "x"], false],
  ["empty braces", "find -exec {} +", ["find", "-exec", "{}", "+"], false],
  ["a tilde inside a word", "git show HEAD~1", ["git", "show", "HEAD~1"], false],
  ["a hash, an equals sign, a bang", "x #a b=c !d", ["x", "#a", "b=c", "!d"], false],
];

for (const [name, text, words, tail] of READ) {
  test(`a rule is split into words, ${name}: ${text}`, () => {
    const read = readRuleWords(text);
    assert.ok("words" in read, JSON.stringify(read));
    const shown = read.words.map((word) => (word.glob ? `/${word.text}/` : word.text));
    assert.deepEqual({ words: shown, tail: read.tail }, { words, tail });
  });
}

const REFUSED: readonly (readonly [name: string, text: string, column: number])[] = [
  ["an expansion", "git $x", 5],
  ["an expansion in double quotes", 'git "a$x"', 5],
  ["a substitution", "git `x`", 5],
  ["a substitution with parentheses", "git $(x)", 5],
  ["an operator", "a && b", 3],
  ["a semicolon", "a;b", 2],
  ["a pipe", "a | b", 3],
  ["a redirection", "a >b", 3],
  ["an input", "a <b", 3],
  ["a parenthesis", "a (b", 3],
  ["a line break", "a\nb", 2],
  ["a tilde", "cat ~/x", 5],
  ["braces", "x {a,b}", 3],
  ["a range in braces", "x a{1..3}", 4],
  ["an open quote", "x 'a", 3],
  ["an open double quote", 'x a"b', 4],
  ["a backslash at the end", "x a\\", 4],
  ["an open class", "x [a", 3],
];

for (const [name, text, column] of REFUSED) {
  test(`a rule rejects ${name}: ${JSON.stringify(text)}`, () => {
    const read = readRuleWords(text);
    assert.ok("problem" in read, JSON.stringify(read));
    assert.equal(read.column, column);
  });
}

test("a rule's glob is case-sensitive", () => {
  const read = readRuleWords("x A*");
  assert.ok("words" in read);
  assert.equal(read.words[1]?.glob?.matches("Ab"), true);
  assert.equal(read.words[1]?.glob?.matches("ab"), false);
});
