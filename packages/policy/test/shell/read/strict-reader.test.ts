import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HazardId } from "../../../src/shell/plan/plan.ts";
import { readPlain } from "../../../src/shell/read/strict-reader.ts";

/** A reading in short: the joins, then the words of each command, `*` after a pattern, then its redirections. */
function short(text: string): unknown {
  const reading = readPlain(text);
  if ("refused" in reading) return reading.refused.id;
  return reading.commands.map(({ join, words, redirections }) => [
    join,
    words.map((word) => (word.glob ? `${word.text}*` : word.text)),
    ...redirections,
  ]);
}

const READ: readonly (readonly [sentence: string, text: string, reading: unknown])[] = [
  ["blanks around words mean nothing", "  git \t status  ", [["start", ["git", "status"]]]],
  ["quotes are removed and joined with what they touch", `a'b c'"d"\\ e''`, [["start", ["ab cd e"]]]],
  ["an empty word is a word", "ls '' \"\"", [["start", ["ls", "", ""]]]],
  [
    "a backslash in single quotes is an ordinary character",
    "echo 'a\\' ; b",
    [
      ["start", ["echo", "a\\"]],
      [";", ["b"]],
    ],
  ],
  ["in double quotes a backslash counts before four characters only", '"\\"\\\\\\$\\`\\n\\a"', [["start", ['"\\$`\\n\\a']]]],
  ["a line's end in quotes belongs to the word", "echo 'a\nb' \"c\nd\"", [["start", ["echo", "a\nb", "c\nd"]]]],
  [
    "operators need no blanks",
    "a&&b||c;d|e",
    [
      ["start", ["a"]],
      ["&&", ["b"]],
      ["||", ["c"]],
      [";", ["d"]],
      ["|", ["e"]],
    ],
  ],
  [
    "lines are commands",
    "a\nb\n\nc\n",
    [
      ["start", ["a"]],
      [";", ["b"]],
      [";", ["c"]],
    ],
  ],
  [
    "an operator waits over line ends and comments",
    "a &&\n\n # why\n b |\nc",
    [
      ["start", ["a"]],
      ["&&", ["b"]],
      ["|", ["c"]],
    ],
  ],
  [
    "a comment ends with its line",
    "a # ; b 'c\nd",
    [
      ["start", ["a"]],
      [";", ["d"]],
    ],
  ],
  [
    "a comment may follow an operator directly",
    "a;#b\nc",
    [
      ["start", ["a"]],
      [";", ["c"]],
    ],
  ],
  ["a quoted # begins no comment", "a '#b' \\#c", [["start", ["a", "#b", "#c"]]]],
  ["a trailing separator ends the list", "a;", [["start", ["a"]]]],
  ["after a blank a line may go on", "ls \\\n  -la \\\n\\\n x", [["start", ["ls", "-la", "x"]]]],
  ["redirections are kept in their order", "a >/dev/null 2>&1 b </dev/null", [["start", ["a", "b"], ">/dev/null", "2>&1", "</dev/null"]]],
  [
    "a redirection may name the output and have a blank before its file",
    "a > /dev/null 2> /dev/null <\t/dev/null 1>/dev/null 1> /dev/null",
    [["start", ["a"], ">/dev/null", "2>/dev/null", "</dev/null", ">/dev/null", ">/dev/null"]],
  ],
  [
    "a redirection ends at an operator",
    "a 2>/dev/null|b 1>&2;c",
    [
      ["start", ["a"], "2>/dev/null"],
      ["|", ["b"], "1>&2"],
      [";", ["c"]],
    ],
  ],
  ["a tilde inside a word is itself", "git show HEAD~1 a/~b", [["start", ["git", "show", "HEAD~1", "a/~b"]]]],
  ["patterns are told from quoted stars", "ls src/*.ts a? '*' \\*", [["start", ["ls", "src/*.ts*", "a?*", "*", "*"]]]],
  ["a quoted name is a name", "'git' status", [["start", ["git", "status"]]]],
  ["a dash, plus or percent sign begins an argument", "a -b +c %d", [["start", ["a", "-b", "+c", "%d"]]]],
  ["NAME=value after the name is an argument", "make CC=gcc", [["start", ["make", "CC=gcc"]]]],
  [
    "ten empty lines are not yet hidden",
    `a${"\n".repeat(11)}b`,
    [
      ["start", ["a"]],
      [";", ["b"]],
    ],
  ],
  ["forty blanks are not yet hidden", `a${" ".repeat(40)}b`, [["start", ["a", "b"]]]],
  ["printf prints -v after the format", "printf %s -v", [["start", ["printf", "%s", "-v"]]]],
];

const REFUSED: readonly (readonly [sentence: string, id: HazardId, ...texts: string[]])[] = [
  ["nothing to run", "unparsed", "", "  \n\t", "# only a comment"],
  ["an operator without a command on each side", "unparsed", "; a", "a ; ; b", "a &&", "a | | b", "&& a", "a\n&& b", "a |", "| a"],
  ["quotes that do not close", "unparsed", "a 'b", 'a "b', 'a "b\\"', "a 'b\\''"],
  ["an operator that the subset does not have", "unmodelled_construct", "a;;b", "a |& b", "a ;& b", "! a", "( a )", "a )", "a (b"],
  ["the background", "background", "a &", "a & b", "a&b", "a &&& b"],
  ["expansions", "expansion", "a $b", "a ${b", "a $'b'", 'a "$b"', "a b$", "$a", 'a "x $', "a $\\\nb"],
  ["substitutions", "substitution", "a $(b)", "a `b`", 'a "$(b)"', 'a "`b`"', "a <(b)", "a >(b)", "a $((1))"],
  ["a history sign in double quotes", "unmodelled_construct", 'a "b!"', 'a "\\!"'],
  ["braces and brackets", "brace_or_glob", "a {b,c}", "a [bc]", "{ a; }", "[[ a ]]", "{a,b}"],
  ["a pattern with a quote in it, or as a name", "brace_or_glob", "ls 'a'*", "ls \\a*", "a*", "?"],
  [
    "files as redirections",
    "redirection",
    "a > b",
    "a >b",
    "a >> b",
    "a 2> b",
    "a &> b",
    "a >& b",
    "a <> b",
    "a << b",
    "a <<< b",
    "a >| b",
    "a b>c",
    "a >/dev/nullx",
    "a 2>&1x",
    "a 3>&1",
    "a 12>&1",
    "a 2>&-",
    "a >  /dev/null",
    "a 2 > /dev/null2",
    "a > /dev/null/x",
    "a > \n/dev/null",
    "a 2>&1\\\nb",
  ],
  ["a redirection that does not follow a command", "redirection", ">/dev/null a", "a; 2>&1", "2>&1"],
  ["a redirection to the network", "network_redirection", "a > /dev/tcp/h/80", "a </dev/udp/h/1", "a < /dev/tcp/h/1"],
  ["an assignment", "assignment", "A=b", "A=b c", "a && A+=b c", "'A=b' c", "a_1=x y", "a'[0]'=x y"],
  [
    "a reserved word, an option or a job as a name",
    "unmodelled_construct",
    "if a; then b; fi",
    "time a",
    "coproc a",
    "function a",
    "for x in y",
    "-a",
    "+a",
    "%1",
    "''",
    "'' a",
    "in a",
    "select x",
  ],
  [
    "builtins that evaluate or change the shell",
    "state_builtin",
    "eval a",
    "a && exec b",
    ". a",
    "source a",
    "command a",
    "builtin a",
    "alias a",
    "hash",
    "set -x",
    "export A=b",
    "declare a",
    "read a",
    "trap a EXIT",
    "printf -v a b",
    "printf -va b",
    "test -v a",
    "a | test -n b -a -v c",
    "exit",
    "return",
    "wait",
    "umask 0",
    "shopt -s x",
    "unset PATH",
    "\\eval a",
    "'ev'al a",
    "pushd a",
    "let a=1",
    "mapfile",
    "getopts a b",
  ],
  [
    "words that other shells expand",
    "other_shell",
    "a =b",
    "a ~",
    "a ~b",
    "a x:~",
    "a x=~",
    "a ''~",
    "a \\=~",
    "a %PATH%",
    "a x%Path%y",
    "a '~'~",
  ],
  [
    "a line that continues anywhere but after a blank",
    "unmodelled_construct",
    "a\\\nb",
    "\\\na",
    "a 'b'\\\n c",
    "a;\\\nb",
    'a "b\\\nc"',
    "a\n\\\nb",
    "a \\",
  ],
  ["a # inside a word", "unmodelled_construct", "a b#c", "a 'b'#c"],
  ["control characters", "control_character", "a\rb", "a \x00", "a \x1b[8m", "a 'b\x7f'", "a \u0085", "a\r\nb"],
  [
    "other characters outside the subset, quoted or not",
    "unmodelled_construct",
    "a \u00e9",
    "a '\u2026'",
    "a\u00a0b",
    "a \u202e",
    "# \u00e9\na",
    "g\u0456t status",
  ],
  [
    "long runs of nothing",
    "hidden_character",
    `a${" ".repeat(41)}b`,
    `a${"\t".repeat(41)};b`,
    `a${"\n".repeat(12)}b`,
    `a${"\n ".repeat(12)}b`,
    `a${" \\\n".repeat(41)}b`,
  ],
  ["more than 4,096 characters", "too_long", `a ${"b".repeat(4095)}`],
];

describe("the strict reader reads", () => {
  for (const [sentence, text, reading] of READ) test(sentence, () => assert.deepEqual(short(text), reading));
});

describe("the strict reader rejects", () => {
  for (const [sentence, id, ...texts] of REFUSED) {
    test(sentence, () =>
      assert.deepEqual(
        texts.map((text) => [text, short(text)]),
        texts.map((text) => [text, id]),
      ),
    );
  }

  test("a rejection has the position of its cause", () => {
    const reading = readPlain("ls src && cat $x");
    assert.deepEqual("refused" in reading && reading.refused.at, [14, 15]);
  });
});

test("a command has its position, redirections included", () => {
  const reading = readPlain(" a  b ;c 2>&1 # d");
  assert.deepEqual("commands" in reading && reading.commands.map(({ at }) => at), [
    [1, 5],
    [7, 13],
  ]);
});

test("4,096 characters are read", () => {
  assert.deepEqual(short(`a ${"b".repeat(4094)}`), [["start", ["a", "b".repeat(4094)]]]);
});
