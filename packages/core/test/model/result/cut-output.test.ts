import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BATCH_CHARS, composeCut, cutOutput, fitBatch, type OutputLimits, outputLimits } from "../../../src/model/result/cut-output.ts";

const DEFAULTS: OutputLimits = { maxChars: 25_000, maxLines: 1_000, keep: "both" };
const lines = (many: number, width = 1): string => "x".repeat(width).concat("\n").repeat(many);

const limits: readonly (readonly [string, Parameters<typeof outputLimits>[0], OutputLimits])[] = [
  ["by default 25,000 characters and 1,000 lines from both ends", {}, DEFAULTS],
  ["a tool's own", { maxOutputChars: 1_000, maxOutputLines: 5, keep: "tail" }, { maxChars: 1_000, maxLines: 5, keep: "tail" }],
  [
    "none for a tool that pages",
    { maxOutputChars: Number.POSITIVE_INFINITY },
    { maxChars: Number.POSITIVE_INFINITY, maxLines: Number.POSITIVE_INFINITY, keep: "both" },
  ],
];
for (const [name, definition, expected] of limits) test(`limits are ${name}`, () => assert.deepEqual(outputLimits(definition), expected));

test("the budget of a batch is 200,000 characters", () => assert.equal(BATCH_CHARS, 200_000));

const fitting: readonly (readonly [string, string, OutputLimits])[] = [
  ["nothing", "", DEFAULTS],
  ["as many characters as allowed", "x".repeat(25_000), DEFAULTS],
  ["as many lines as allowed, the last one ended", lines(1_000), DEFAULTS],
  ["as many lines as allowed, the last one open", `${lines(999)}x`, DEFAULTS],
  ["anything for a tool without limits", lines(30_000), outputLimits({ maxOutputChars: Number.POSITIVE_INFINITY })],
];
for (const [name, text, given] of fitting) test(`not cut: ${name}`, () => assert.equal(cutOutput(text, given), undefined));

const small = { maxChars: 10, maxLines: 5 } as const;
const cuts: readonly (readonly [name: string, text: string, limits: OutputLimits, head: string, tail: string])[] = [
  ["a fifth from the start, four fifths from the end", "0123456789ab", { ...small, keep: "both" }, "01", "456789ab"],
  ["all from the start", "0123456789ab", { ...small, keep: "head" }, "0123456789", ""],
  ["all from the end", "0123456789ab", { ...small, keep: "tail" }, "", "23456789ab"],
  ["by lines when these are hit first", "a\nb\nc\nd\ne\nf\n", { maxChars: 100, maxLines: 5, keep: "both" }, "a\n", "c\nd\ne\nf\n"],
  ["by lines, the last one open", "a\nb\nc\nd\ne\nf", { maxChars: 100, maxLines: 5, keep: "both" }, "a\n", "c\nd\ne\nf"],
  ["lines from the start", "a\nb\nc\n", { maxChars: 100, maxLines: 2, keep: "head" }, "a\nb\n", ""],
  ["lines from the end", "a\nb\nc\n", { maxChars: 100, maxLines: 2, keep: "tail" }, "", "b\nc\n"],
  ["by both measures at once", "aaaa\nb\nc\nd\neeee\nffff\n", { maxChars: 10, maxLines: 5, keep: "both" }, "aa", "ee\nffff\n"],
  ["no pair at the end of the head", "0😀234567890123", { ...small, keep: "both" }, "0", "67890123"],
  ["no pair at the start of the tail", "012345😀6789abc", { ...small, keep: "both" }, "01", "6789abc"],
];
for (const [name, text, given, head, tail] of cuts) {
  test(`cut: ${name}`, () => {
    const cut = cutOutput(text, given);
    assert.deepEqual([cut?.head, cut?.tail, cut?.chars], [head, tail, text.length]);
  });
}

const files: readonly (readonly [string, string, boolean])[] = [
  ["3,000 characters over the limit need no file", "x".repeat(28_000), false],
  ["3,001 characters over the limit need a file", "x".repeat(28_001), true],
  ["a few short lines over the limit need no file", lines(1_100), false],
  ["many lines over the limit need a file", lines(2_000, 10), true],
];
for (const [name, text, expected] of files) test(name, () => assert.equal(cutOutput(text, DEFAULTS)?.needsFile, expected));

const cut = { head: "h", tail: "t", chars: 30_000, lines: 12, needsFile: true };
const composed: readonly (readonly [string, string, string])[] = [
  [
    "does not call a file full that reached its own limit",
    composeCut(cut, { path: "/o/c1", cut: true }),
    "h\n[output truncated: 30000 characters, 12 lines; output in /o/c1, cut there at the file limit]\nt",
  ],
  ["names the file", composeCut(cut, { path: "/o/c1" }), "h\n[output truncated: 30000 characters, 12 lines; full output in /o/c1]\nt"],
  ["ends after the counts without one", composeCut(cut, undefined), "h\n[output truncated: 30000 characters, 12 lines]\nt"],
  [
    "says that it could not be saved",
    composeCut(cut, "unsaved"),
    "h\n[output truncated: 30000 characters, 12 lines; full output could not be saved]\nt",
  ],
  ["comes last after a head alone", composeCut({ ...cut, tail: "" }, undefined), "h\n[output truncated: 30000 characters, 12 lines]"],
  ["comes first before a tail alone", composeCut({ ...cut, head: "" }, undefined), "[output truncated: 30000 characters, 12 lines]\nt"],
  ["adds no empty line", composeCut({ ...cut, head: "h\n" }, undefined), "h\n[output truncated: 30000 characters, 12 lines]\nt"],
];
for (const [name, text, expected] of composed) test(`the line ${name}`, () => assert.equal(text, expected));

const batches: readonly (readonly [string, readonly number[], number, readonly number[]])[] = [
  ["nothing is cut that fits", [5, 5], 10, [5, 5]],
  ["the largest is cut first", [3, 20, 4], 20, [3, 13, 4]],
  ["then the next largest with it", [2, 10, 20], 12, [2, 5, 5]],
  ["of equal ones the first in call order", [5, 5, 5], 13, [4, 4, 5]],
  ["also when they became equal", [5, 1, 9], 10, [4, 1, 5]],
  ["no budget, no text", [3, 4], 0, [0, 0]],
];
for (const [name, lengths, budget, expected] of batches)
  test(`a batch: ${name}`, () => assert.deepEqual(fitBatch(lengths, budget), expected));

test("law: a batch over its budget is cut to exactly it, and never by cutting a smaller result below a larger one", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { minLength: 1 }), fc.nat(300), (lengths, budget) => {
      const kept = fitBatch(lengths, budget);
      const total = lengths.reduce((sum, length) => sum + length, 0);
      assert.equal(
        kept.reduce((sum, length) => sum + length, 0),
        Math.min(total, budget),
      );
      const level = Math.max(...kept);
      for (const [i, length] of lengths.entries()) assert.ok(kept[i] === length || (kept[i] ?? 0) >= level - 1);
    }),
  );
});

test("law: what is kept is the text's own start and end, within the limits, and no pair is split", () => {
  const unit = fc.constantFrom("a", "\n", "😀", "é");
  fc.assert(
    fc.property(
      fc.string({ unit, maxLength: 60 }),
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom("head", "tail", "both"),
      (text, max, keep) => {
        const pieces = cutOutput(text, { maxChars: max * 2, maxLines: max, keep });
        if (!pieces) return assert.ok(text.length <= max * 2 && text.split("\n").length <= max + 1);
        assert.ok(text.startsWith(pieces.head) && text.endsWith(pieces.tail));
        assert.ok(pieces.head.length + pieces.tail.length <= max * 2);
        assert.ok(pieces.head.isWellFormed() && pieces.tail.isWellFormed());
        assert.ok(`${pieces.head}${pieces.tail}`.split("\n").length <= max + 1);
        assert.ok(composeCut(pieces, undefined).includes("[output truncated: "));
      },
    ),
  );
});
