import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Redirection } from "../../../src/shell/plan/plan.ts";
import { matchReaders } from "../../../src/shell/read/agree.ts";
import type { PlainCommand } from "../../../src/shell/read/strict-reader.ts";
import { readPlain } from "../../../src/shell/read/strict-reader.ts";
import type { SeenCommand, WalkResult } from "../../../src/shell/walk/seen-command.ts";
import { walkBash } from "../../../src/shell/walk/walk.ts";

function plain(text: string): readonly PlainCommand[] {
  const reading = readPlain(text);
  assert.ok("commands" in reading, text);
  return reading.commands;
}

const AGREED: readonly string[] = [
  "ls",
  "ls -la 'a b' | wc -l && pwd || id; true\nfalse",
  "ls src/*.ts a?",
  "ls 2>&1",
  "ls 1>&2",
  "ls >/dev/null",
  "ls 2>/dev/null",
  "ls </dev/null",
  "ls >/dev/null 2>&1 </dev/null",
  "ls 1>/dev/null",
  "ls > /dev/null 2>&1",
  "ls 2> /dev/null < /dev/null",
];

describe("both readers agree", () => {
  for (const text of AGREED) {
    test(JSON.stringify(text), () => {
      const walk = walkBash(text);
      assert.deepEqual(matchReaders(plain(text), walk), walk.commands);
    });
  }

  test("nested commands are not on the top level", () => {
    const walk = walkBash("timeout 5 ls; pwd");
    const top = matchReaders(plain("timeout 5 ls; pwd"), walk);
    assert.deepEqual([walk.commands.length, top?.map(({ argv }) => argv[0]?.text)], [3, ["timeout", "pwd"]]);
  });
});

const TEXT = "ls src/*.ts 2>&1; pwd";

/** The walk of the text, with its first command changed. */
function walkWith(change: (seen: SeenCommand) => Partial<SeenCommand>): WalkResult {
  const walk = walkBash(TEXT);
  return { ...walk, commands: walk.commands.map((seen, i) => (i === 0 ? { ...seen, ...change(seen) } : seen)) };
}

function redirected(change: Partial<Redirection>): WalkResult {
  return walkWith(({ redirections }) => ({ redirections: redirections.map((one) => ({ ...one, ...change })) }));
}

const DIFFERING: readonly (readonly [sentence: string, walk: WalkResult])[] = [
  ["the walk met an error", { ...walkBash(TEXT), parsed: false }],
  ["the walk met a limit", { ...walkBash(TEXT), limited: true }],
  ["a command more", walkBash(`${TEXT}; id`)],
  ["a command less", walkBash("ls src/*.ts 2>&1")],
  ["another joining", walkBash("ls src/*.ts 2>&1 && pwd")],
  ["an assignment", walkWith(() => ({ assignments: [{ name: "A", dynamic: false }] }))],
  ["a word more", walkWith(({ argv }) => ({ argv: [...argv, { text: "x", dynamic: false }] }))],
  ["a word less", walkWith(({ argv }) => ({ argv: argv.slice(0, 1) }))],
  ["another word", walkWith(({ argv }) => ({ argv: argv.map((word) => ({ ...word, text: `${word.text}x` })) }))],
  ["a pattern that is a plain word to one", walkWith(({ argv }) => ({ argv: argv.map(({ text }) => ({ text, dynamic: false })) }))],
  ["a plain word that is dynamic to one", walkWith(({ argv }) => ({ argv: argv.map(({ text }) => ({ text, dynamic: true })) }))],
  ["a redirection less", walkWith(() => ({ redirections: [] }))],
  ["a redirection more", walkWith(({ redirections }) => ({ redirections: [...redirections, ...redirections] }))],
  ["another descriptor", redirected({ fd: "1" })],
  ["another direction", redirected({ op: ">" })],
  ["another target", redirected({ target: "2" })],
  ["a target that only a shell can tell", redirected({ dynamic: true })],
];

describe("the readers disagree", () => {
  test("the unchanged text is read the same", () =>
    assert.notEqual(
      matchReaders(
        plain(TEXT),
        walkWith(() => ({})),
      ),
      undefined,
    ));
  for (const [sentence, walk] of DIFFERING) test(sentence, () => assert.equal(matchReaders(plain(TEXT), walk), undefined));
});
