import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { displayWidth } from "@assent/core";
import { applyHunks, type FileDiff, parseDiff, unifiedDiff } from "@assent/core/parts";
import fc from "fast-check";
import { drawDiffItem } from "../../../src/tui/diff/draw.ts";
import { type DiffLayout, diffItems } from "../../../src/tui/diff/items.ts";
import { wordChanges } from "../../../src/tui/diff/word-changes.ts";
import { highlight } from "../../../src/tui/draw/highlight.ts";
import { makeTheme, type Theme } from "../../../src/tui/draw/theme.ts";

const PLAIN = makeTheme("none");
const MARKED = { ...PLAIN, addedWord: (text: string) => `[${text}]`, removedWord: (text: string) => `[${text}]` };
const OPEN: DiffLayout = { split: false, folded: new Set() };

function only(before: string | null, after: string, name = "a.ts"): FileDiff {
  const [file, ...others] = parseDiff(unifiedDiff({ name, before, after }));
  assert.ok(file && others.length === 0);
  return file;
}

type Drawing = { readonly columns: number; readonly layout?: DiffLayout; readonly theme?: Theme };

function drawn(files: readonly FileDiff[], { columns, layout = OPEN, theme = PLAIN }: Drawing): readonly string[] {
  return diffItems(files, layout).flatMap((item) => drawDiffItem(item, { columns, rows: 0, theme }));
}

describe("reading a diff", () => {
  test("files, hunks and line numbers are as the diff says", () => {
    const before = Array.from({ length: 20 }, (_, at) => `line ${at + 1}\n`).join("");
    const file = only(before, before.replace("line 2\n", "two\n").replace("line 18\n", "eighteen\nand a half\n"));
    assert.deepEqual([file.name, file.isNew, file.added, file.removed, file.hunks.length], ["a.ts", false, 3, 2, 2]);
    const last = file.hunks[1]?.lines.filter(({ kind }) => kind !== "same");
    assert.deepEqual(last, [
      { kind: "removed", text: "line 18", old: 18, new: undefined },
      { kind: "added", text: "eighteen", old: undefined, new: 18 },
      { kind: "added", text: "and a half", old: undefined, new: 19 },
    ]);
  });

  test("a line that looks like a header is a line where a hunk counts it", () => {
    const file = only("-- a\n++ b\n@@ -1 +1 @@\n", "-- c\n++ d\n");
    assert.deepEqual([file.removed, file.added], [3, 2]);
    assert.deepEqual(file.hunks.length, 1);
  });

  test("a new file, and a missing line break at the end", () => {
    const file = only(null, "a\nb");
    assert.equal(file.isNew, true);
    assert.equal(file.hunks[0]?.lines.at(-1)?.open, true);
  });
});

describe("choosing hunks", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "c", "", "d\r"), { maxLength: 40 })
    .chain((lines) => fc.constantFrom(lines.join("\n"), `${lines.join("\n")}\n`));

  test("law: all hunks chosen give the new text, none the old", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        const file = only(before, after);
        const all = new Set(file.hunks.keys());
        assert.equal(applyHunks(before, file, all), after);
        assert.equal(applyHunks(before, file, new Set()), before);
      }),
    );
  });

  test("one of two hunks is made, the other is not", () => {
    const before = Array.from({ length: 20 }, (_, at) => `line ${at + 1}\n`).join("");
    const file = only(before, before.replace("line 2\n", "two\n").replace("line 18\n", "eighteen\n"));
    assert.equal(applyHunks(before, file, new Set([1])), before.replace("line 18\n", "eighteen\n"));
  });
});

describe("drawing a diff", () => {
  test("notes beside the changes are shown, too: no part of a diff is dropped", () => {
    const text =
      "diff --git a/x b/x\nold mode 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n[7 bytes, not shown] are replaced\n--- a/y\n+++ b/y\nBinary\u001b[2J\n";
    assert.deepEqual(drawn(parseDiff(text), { columns: 60 }), [
      "▾ x  +1 -1",
      "  diff --git a/x b/x",
      "  old mode 100644",
      "  [7 bytes, not shown] are replaced",
      "@@ -1 +1 @@",
      "    1      - a",
      "         1 + b",
      "▾ y  +0 -0",
      "  Binary\\x1b[2J",
    ]);
  });

  test("unified: signs, both numbers, the words that changed", () => {
    assert.deepEqual(drawn([only("const a = 1;\nb\n", "const a = 2;\nb\n")], { columns: 60, theme: MARKED }), [
      "▾ a.ts  +1 -1",
      "@@ -1,2 +1,2 @@",
      "    1      - const a = [1];",
      "         1 + const a = [2];",
      "    2    2   b",
    ]);
  });

  test("side by side: what goes left, what comes right", () => {
    const lines = drawn([only("one\ntwo\n", "one\n2\nthree\n")], { columns: 60, layout: { split: true, folded: new Set() } });
    assert.deepEqual(lines.slice(2), [
      "    1   one                  │     1   one",
      "    2 - two                  │     2 + 2",
      `${" ".repeat(28)} │     3 + three`,
    ]);
  });

  test("a folded file is its name and counts", () => {
    const files = parseDiff(
      unifiedDiff({ name: "a", before: "x\n", after: "y\n" }) + unifiedDiff({ name: "b", before: "x\n", after: "y\n" }),
    );
    assert.deepEqual(drawn(files, { columns: 60, layout: { split: false, folded: new Set([0]) } }).slice(0, 2), [
      "▸ a  +1 -1",
      "▾ b  +1 -1",
    ]);
  });

  test("what a terminal would act on is shown as text", () => {
    const lines = drawn([only("a\n", "\u001b[2J\u202eb\u200b\n")], { columns: 80 });
    assert.ok(
      lines.some((line) => line.includes("\\x1b[2J\\u{202e}b\\u{200b}")),
      lines.join("\n"),
    );
  });

  test("law: no line is wider than the screen, and nothing of the text is lost", () => {
    const line = fc.string({ unit: "grapheme", maxLength: 80 }).map((text) => text.replaceAll(/[\n\t]/g, ""));
    fc.assert(
      fc.property(fc.tuple(line, line), fc.integer({ min: 40, max: 160 }), fc.boolean(), ([before, after], columns, split) => {
        fc.pre(before !== after);
        const file = only(`${before}\n`, `${after}\n`, "a.txt");
        const lines = drawn([file], { columns, layout: { split, folded: new Set() } });
        for (const one of lines) assert.ok(displayWidth(one) <= columns, `${displayWidth(one)} of ${columns}: ${one}`);
      }),
    );
  });
});

describe("words and colours", () => {
  test("lines that have little in common are not compared word by word", () => {
    assert.equal(wordChanges("const total = price * count;", "return null"), undefined);
  });

  test("the pieces are the lines", () => {
    const found = wordChanges("if (a) return b;", "if (a && c) return b;");
    assert.equal(found?.before.map(({ text }) => text).join(""), "if (a) return b;");
    assert.equal(found?.after.map(({ text }) => text).join(""), "if (a && c) return b;");
    assert.deepEqual(
      found?.after.filter(({ changed }) => changed).map(({ text }) => text.trim()),
      ["&& c"],
    );
  });

  const roles = (line: string, name: string): readonly string[] =>
    highlight(line, name).flatMap(({ text, role }) => (role ? [`${role}:${text}`] : []));
  for (const [line, name, expected] of [
    ["const a = 'x'; // why", "a.ts", ["keyword:const", "string:'x'", "comment:// why"]],
    ["  // all of it", "a.ts", ["comment:  // all of it"]],
    ["def f(): # x", "a.py", ["keyword:def", "comment:# x"]],
    ["let n = 0x1f;", "rust", ["keyword:let", "number:0x1f"]],
    ["plain words", "a.txt", []],
    [`url = "https://x.test // z"`, "a.ts", [`string:"https://x.test // z"`]],
  ] as const) {
    test(`code has its colours: ${line}`, () => {
      assert.deepEqual(roles(line, name), expected);
      assert.equal(
        highlight(line, name)
          .map(({ text }) => text)
          .join(""),
        line,
      );
    });
  }
});
