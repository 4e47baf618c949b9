import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cut, displayWidth, wrap } from "../../src/io/display-width.ts";
import { fieldsText } from "../../src/io/output.ts";
import { textTable } from "../../src/io/text-table.ts";

const COLUMNS = ["id", { shrinks: "title" }];

describe("tables for people", () => {
  test("columns are aligned, and a pipe gets them uncut", () => {
    const rows = [
      ["a_1", "short"],
      ["a_200", "x".repeat(100)],
    ];
    assert.equal(textTable(COLUMNS, rows, undefined), `ID     TITLE\na_1    short\na_200  ${"x".repeat(100)}\n`);
  });

  test("a column that may shrink does, and says so", () => {
    assert.equal(textTable(COLUMNS, [["a_1", "a title that is too long"]], 20), "ID   TITLE\na_1  a title that i…\n");
  });

  test("a terminal too narrow for the table gets labelled lines, and nothing is lost", () => {
    const long = "t".repeat(50);
    assert.equal(textTable(COLUMNS, [["a_0123456789abcdefghij", long]], 20), `id: a_0123456789abcdefghij\ntitle: ${long}\n`);
  });

  test("hostile cells are escaped and stay on their line", () => {
    assert.equal(textTable(COLUMNS, [["a\u001b[2J", "x\ny"]], undefined), "ID        TITLE\na\\x1b[2J  x\\ny\n");
  });

  test("wide characters keep the columns aligned", () => {
    assert.equal(
      textTable(
        ["a", "b"],
        [
          ["日本", "x"],
          ["abc", "y"],
        ],
        undefined,
      ),
      "A     B\n日本  x\nabc   y\n",
    );
  });
});

describe("width and wrapping", () => {
  test("combining marks take no column, wide characters two", () => assert.equal(displayWidth("e\u0301日"), 3));
  test("a cut never splits a character", () => assert.equal(cut("日本語", 4), "日…"));
  test("wrapping drops nothing, even where one character is wider than the room", () => {
    assert.deepEqual(wrap("abcdef\n日", 1), ["a", "b", "c", "d", "e", "f", "日"]);
    assert.deepEqual(wrap("abcdef", 4), ["abcd", "ef"]);
  });
  test("a field's continued lines are indented under its value", () => {
    assert.equal(
      fieldsText(
        [
          ["id", "a_1"],
          ["what", "one\ntwo"],
        ],
        80,
      ),
      "id    a_1\nwhat  one\n      two\n",
    );
  });
});
