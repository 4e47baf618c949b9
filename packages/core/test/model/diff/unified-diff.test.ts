import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type LineChange, lineChanges, splitLines } from "../../../src/model/diff/line-changes.ts";
import { diffStat, unifiedDiff } from "../../../src/model/diff/unified-diff.ts";

const lines = (...names: readonly (string | number)[]): string => names.map((name) => `${name}\n`).join("");
const count = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

const ROWS: readonly (readonly [name: string, before: string | null, after: string, diff: string])[] = [
  ["no change has no diff", "a\n", "a\n", ""],
  ["a new file", null, "a\nb\n", "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n"],
  [
    "a changed line with its context",
    lines(...count(1, 9)),
    lines(1, 2, 3, 4, "x", 6, 7, 8, 9),
    "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n",
  ],
  ["a file that loses all", "a\n", "", "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n"],
  ["a missing line break at the end", "a\nb", "a\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"],
  [
    "changes whose contexts touch are one hunk",
    lines(...count(1, 10)),
    lines(1, "x", ...count(3, 8), "y", 10),
    "--- a/f\n+++ b/f\n@@ -1,10 +1,10 @@\n 1\n-2\n+x\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n+y\n 10\n",
  ],
  [
    "changes further apart are two hunks",
    lines(...count(1, 12)),
    lines("x", ...count(2, 11), "y"),
    "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -9,4 +9,4 @@\n 9\n 10\n 11\n-12\n+y\n",
  ],
];
for (const [name, before, after, diff] of ROWS) test(name, () => assert.equal(unifiedDiff({ name: "f", before, after }), diff));

test("a name with a line break cannot forge a line of the diff", () => {
  assert.match(unifiedDiff({ name: "a\n+++ b/x", before: "", after: "y\n" }), /^--- a\/a\\n\+\+\+ b\/x\n\+\+\+ b\/a\\n/);
});

test("the counts are of lines and characters, by the model and by the person", () => {
  assert.deepEqual(diffStat("a\nbb\nc\n", "a\nccc\ndd\nc\n", "a\nccc\nc\n"), {
    model_added_lines: 2,
    model_removed_lines: 1,
    model_added_chars: 5,
    model_removed_chars: 2,
    user_added_lines: 0,
    user_removed_lines: 1,
    user_added_chars: 0,
    user_removed_chars: 2,
  });
  assert.equal(diffStat(null, "x").model_added_lines, 1);
});

const text = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "\n", "d"), { maxLength: 30 }).map((parts) => parts.join(""));

test("law: the old text with its changes made is the new one, and they name their lines truly", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const old = splitLines(before);
      const made = splitLines(after);
      let at = 0;
      let rebuilt = "";
      for (const { line, newLine, removed, added, start, end } of lineChanges(before, after)) {
        assert.ok(start >= at);
        rebuilt += before.slice(at, start) + added.join("");
        at = end;
        assert.equal(before.slice(start, end), removed.join(""));
        assert.deepEqual(old.slice(line - 1, line - 1 + removed.length), removed);
        assert.deepEqual(made.slice(newLine - 1, newLine - 1 + added.length), added);
      }
      assert.equal(rebuilt + before.slice(at), after);
    }),
  );
});

/** An independent reading of unified diffs: hunks are applied by their numbers, and everything they say about the old text must be true. */
function apply(before: string, diff: string): string {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const made: string[] = [];
  let at = 0;
  for (const hunk of diff.split(/^(?=@@ )/m).slice(1)) {
    const { begin, lines: changed } = readHunk(hunk);
    made.push(...old.slice(at, begin));
    const kept = changed.filter(([sign]) => sign !== "+").map(([, line]) => line);
    assert.deepEqual(old.slice(begin, begin + kept.length), kept);
    made.push(...changed.filter(([sign]) => sign !== "-").map(([, line]) => line));
    at = begin + kept.length;
  }
  return [...made, ...old.slice(at)].join("");
}

function readHunk(hunk: string): { begin: number; lines: [sign: string, line: string][] } {
  const [header = "", start = "", length = "1"] = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@\n/.exec(hunk) ?? [];
  const body = hunk.slice(header.length).replaceAll("\n\\ No newline at end of file\n", "\0");
  const found = body.match(/[^\n\0]*[\n\0]/g) ?? [];
  return { begin: Number(start) - (length === "0" ? 0 : 1), lines: found.map((line) => [line.charAt(0), line.slice(1).replace("\0", "")]) };
}

test("law: the new text follows from the old one and the diff", () => {
  fc.assert(fc.property(text, text, (before, after) => assert.equal(apply(before, unifiedDiff({ name: "f", before, after })), after)));
});

const sizes = (changes: readonly LineChange[]) => changes.map(({ line, removed, added }) => [line, removed.length, added.length]);

test("two large texts without a line in common are one change, found without comparing all with all", () => {
  assert.deepEqual(sizes(lineChanges(count(1, 50_000).join("\n"), count(100_001, 250_000).join("\n"))), [[1, 50_000, 150_000]]);
});

test("a few changes in a large text are found exactly", () => {
  const before = count(1, 100_000);
  const after = before.filter((line) => line !== 30_000).map((line) => (line === 70_000 ? -1 : line));
  assert.deepEqual(sizes(lineChanges(before.join("\n"), after.join("\n"))), [
    [30_000, 1, 0],
    [70_000, 1, 1],
  ]);
});

test("many changes in a large text are found each by itself", () => {
  const before = count(1, 100_000);
  const after = before.map((line) => (line % 50 === 0 ? -line : line));
  const found = sizes(lineChanges(before.join("\n"), after.join("\n")));
  assert.deepEqual([found.length, found[0], found[999]], [2000, [50, 1, 1], [50_000, 1, 1]]);
});

test("many changes of lines that all repeat are found at a bounded cost", () => {
  const text = (lines: number, period: number) =>
    count(1, lines)
      .map((line) => line % period)
      .join("\n");
  const [before, after] = [text(100_000, 7), text(100_000, 11)];
  const changes = lineChanges(before, after);
  assert.equal(apply(before, unifiedDiff({ name: "f", before, after })), after);
  assert.ok(changes.length > 0);
});
