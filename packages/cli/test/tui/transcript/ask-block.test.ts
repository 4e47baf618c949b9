import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { displayWidth, type JsonObject } from "@assent/core";
import { makeTheme } from "../../../src/tui/draw/theme.ts";
import { type AskBlock, type AskDrawing, askRows, askTitle } from "../../../src/tui/transcript/ask-block.ts";

const CANVAS: AskDrawing = { columns: 60, rows: 20, theme: makeTheme("none"), open: false };
const DB: JsonObject = {
  id: "db",
  header: "Database",
  question: "Which database?",
  options: [{ label: "SQLite", description: "one file" }, { label: "Postgres" }],
};
const CHECKS: JsonObject = { id: "checks", question: "Which checks?", multi: true, options: [{ label: "types" }, { label: "lint" }] };
const ONE: JsonObject = { questions: [DB] };
const TWO: JsonObject = { questions: [DB, CHECKS] };
const ended = (input: JsonObject, details: JsonObject, outcome = "succeeded"): AskBlock => ({ input, details, outcome, state: "ended" });

const ROWS: readonly (readonly [sentence: string, block: AskBlock, title: string, rows: readonly string[]])[] = [
  ["while it waits, the question and its options", { input: ONE, state: "waiting" }, "Which database?", ["  SQLite · Postgres"]],
  [
    "several questions, each with its options",
    { input: TWO, state: "waiting" },
    "2 questions",
    ["Which database?", "  SQLite · Postgres", "Which checks?", "  types · lint"],
  ],
  ["a choice", ended(ONE, { selectedOptions: ["Postgres"] }), "Which database?", ["└ Postgres"]],
  [
    "a choice that was made by the clock",
    ended(ONE, { selectedOptions: ["SQLite"], automatic: true }),
    "Which database?",
    ["└ SQLite (automatic)"],
  ],
  [
    "several answers, a text of one's own beside the checks, and a note",
    ended(TWO, {
      results: [
        { id: "db", selectedOptions: ["SQLite"], note: "small" },
        { id: "checks", selectedOptions: ["types", "lint"], customInput: "a\nb" },
      ],
    }),
    "2 questions",
    ['├ Database: SQLite note: "small"', '└ checks: types, lint + "a\\nb"'],
  ],
  [
    "no answer, and nothing checked",
    ended(TWO, {
      results: [
        { id: "db", selectedOptions: [] },
        { id: "checks", selectedOptions: [], multi: true },
      ],
    }),
    "2 questions",
    ["├ Database: (no answer)", "└ checks: nothing"],
  ],
  ["an empty text is an answer", ended(ONE, { selectedOptions: [], customInput: "" }), "Which database?", ['└ ""']],
  ["cancelled", ended(ONE, {}, "cancelled"), "Which database?", ["Cancelled"]],
  [
    "cancelled after a first answer",
    ended(TWO, { partial: [{ id: "db", selectedOptions: ["SQLite"] }] }, "cancelled"),
    "2 questions",
    ["Cancelled", "└ Database: SQLite"],
  ],
  [
    "codes are escaped",
    ended({ questions: [{ ...DB, question: "\u001b[31mred?" }] }, { selectedOptions: ["<b>\u001b[2J"] }),
    "\\x1b[31mred?",
    ["└ <b>\\x1b[2J"],
  ],
  ["input that is none", ended({}, {}, "invalid"), "", []],
];

describe("a call of ask in the transcript", () => {
  for (const [sentence, block, title, rows] of ROWS) {
    test(sentence, () => {
      assert.equal(askTitle(block.input), title);
      assert.deepEqual(askRows(block, CANVAS), rows);
      assert.deepEqual(askRows(block, CANVAS), rows, "drawing twice gives the same");
      for (const line of askRows(block, { ...CANVAS, columns: 20 })) assert.ok(displayWidth(line) <= 20, line);
    });
  }

  test("opened, it has the descriptions", () => {
    assert.deepEqual(askRows({ input: ONE, state: "waiting" }, { ...CANVAS, open: true }), ["  - SQLite: one file", "  - Postgres"]);
  });
});
