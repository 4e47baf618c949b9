import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AnswerResult, CardLine, WaitingRow } from "../src/desk.ts";
import { choicesOf, filterRows, groupResults, groupRows, listedRows, moveTo, NO_FILTER, stillThere } from "../src/list.ts";
import { splitRows } from "../web/diff-rows.ts";
import { age, visible } from "../web/text.ts";

const row = (id: string, more: Partial<WaitingRow> = {}): WaitingRow => ({
  ...{
    id,
    kind: "approval",
    session: "s_1",
    group: "s_1",
    sessionTitle: "Build",
    agent: "Assent",
    tool: "shell",
    subject: `npm run ${id}`,
  },
  ...{ directory: "/w", mode: "default", why: "no rule allows it", since: "2026-01-01T00:00:00Z", expiresAt: null },
  ...more,
});
const ROWS = [
  row("a"),
  row("b", { agent: "Claude Code", session: "s_2", group: "s_2", sessionTitle: "Docs", tool: "edit" }),
  row("c", { directory: "/x" }),
];

describe("what the page says about answers", () => {
  const results = (...kinds: readonly AnswerResult["result"][]): readonly AnswerResult[] =>
    kinds.map((result, at) => ({ id: `a_${at}`, result, message: `${at} ${result}` }));
  const rows: readonly [name: string, given: readonly AnswerResult[], said: readonly string[]][] = [
    ["a few are named", results("saved", "saved", "saved"), ["0 saved", "1 saved", "2 saved"]],
    ["more with one result are counted", results("saved", "saved", "saved", "saved"), ["4 answers are saved."]],
    [
      "others are not lost among them",
      results("saved", "saved", "changed", "saved", "saved", "answered-before"),
      ["4 answers are saved.", "2 changed", "5 answered-before"],
    ],
    ["refused answers keep their reasons", results("refused", "refused", "refused", "refused"), [0, 1, 2, 3].map((at) => `${at} refused`)],
  ];
  for (const [name, given, said] of rows)
    test(name, () =>
      assert.deepEqual(
        groupResults(given).map(({ message }) => message),
        said,
      ),
    );
});

describe("the list of what waits", () => {
  const filters = [
    ["no filter keeps all", {}, "a b c"],
    ["an agent", { agent: "Claude Code" }, "b"],
    ["a tool", { tool: "shell" }, "a c"],
    ["a directory", { directory: "/x" }, "c"],
    ["words in any order and case", { text: "RUN build a" }, "a c"],
    ["all conditions must hold", { tool: "shell", directory: "/x" }, "c"],
  ] as const;
  for (const [name, filter, expected] of filters)
    test(`filter: ${name}`, () => {
      const found = filterRows(ROWS, { ...NO_FILTER, ...filter });
      assert.equal(found.map(({ id }) => id).join(" "), expected);
    });
  test("rows are grouped by session in their order", () => {
    const groups = groupRows(ROWS).map(({ title, rows }) => [title, rows.map(({ id }) => id).join("")]);
    assert.deepEqual(groups, [
      ["Build", "ac"],
      ["Docs", "b"],
    ]);
  });
  test("keys go through the rows in the order in which the groups show them", () =>
    assert.equal(
      listedRows(ROWS, NO_FILTER)
        .map(({ id }) => id)
        .join(""),
      "acb",
    ));
  test("the calls of a guarded agent are one group, although each is a session of its own", () => {
    const calls = ["s_3", "s_4"].map((session) => row(session, { session, group: "claude x", agent: "Claude Code" }));
    assert.deepEqual(
      groupRows(calls).map(({ session, rows }) => [session, rows.length]),
      [[null, 2]],
    );
  });
  test("a filter offers each value once", () => assert.deepEqual(choicesOf(ROWS, "tool"), ["edit", "shell"]));
  test("a selected row that was answered is no longer selected", () =>
    assert.deepEqual([...stillThere(new Set(["a", "gone"]), ROWS)], ["a"]));
  const moves = [
    ["the first key goes to the first row", undefined, 1, "a"],
    ["the first key up goes to the last row", undefined, -1, "c"],
    ["down", "a", 1, "b"],
    ["down at the end stays", "c", 1, "c"],
    ["up at the start stays", "a", -1, "a"],
  ] as const;
  for (const [name, from, step, expected] of moves) test(name, () => assert.equal(moveTo(["a", "b", "c"], from, step), expected));
});

describe("texts of models", () => {
  const texts = [
    ["a direction override is shown", "a\u202eb", "a\\u{202e}b"],
    ["a zero-width space is shown", "r\u200bm", "r\\u{200b}m"],
    ["an escape sequence is shown", "\u001b[2J", "\\u{1b}[2J"],
    ["a tag character is shown", "\u{e0041}", "\\u{e0041}"],
    ["line ends and tabs stay", "a\n\tb", "a\n\tb"],
    ["other scripts stay", "naïve 日本 👍", "naïve 日本 👍"],
  ] as const;
  for (const [name, text, expected] of texts) test(name, () => assert.equal(visible(text), expected));
});

describe("ages", () => {
  const ages = [
    [5, "5 s"],
    [65, "1 min"],
    [7_300, "2 h"],
    [200_000, "2 d"],
  ] as const;
  const start = Date.parse("2026-01-01T00:00:00Z");
  for (const [seconds, expected] of ages)
    test(expected, () => assert.equal(age("2026-01-01T00:00:00Z", start + seconds * 1_000), expected));
});

test("side by side, a removed line is beside the line that replaces it", () => {
  const line = (mark: CardLine["mark"], text: string): CardLine => ({ mark, pieces: [{ text, changed: false }] });
  const rows = splitRows({ id: null, header: "", lines: [line(" ", "a"), line("-", "b"), line("-", "c"), line("+", "B"), line(" ", "d")] });
  const texts = rows.map(({ left, right }) => [left?.pieces[0]?.text, right?.pieces[0]?.text]);
  assert.deepEqual(texts, [
    ["a", "a"],
    ["b", "B"],
    ["c", undefined],
    ["d", "d"],
  ]);
});
