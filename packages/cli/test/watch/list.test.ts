import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { WaitingRow } from "@assent/inbox";
import { makeTheme } from "../../src/tui/draw/theme.ts";
import { EMPTY_LIST, listLines, placeLine, withRows } from "../../src/watch/list.ts";

const row = (id: string, more: Partial<WaitingRow>): WaitingRow => ({
  ...{ id, kind: "approval", session: "s_1", group: "s_1", sessionTitle: "Build", agent: "Assent", tool: "shell", subject: `run ${id}` },
  ...{ directory: "/w", mode: "default", why: "no rule allows it", since: "2026-01-01T00:00:00Z", expiresAt: null },
  ...more,
});
const LONG = "A title that says very much about everything that happened in this session";
const STATE = withRows(EMPTY_LIST, [
  row("a_1", { sessionTitle: LONG }),
  row("a_2", { session: "s_2", group: "Claude Code x", agent: "Claude Code", sessionTitle: "shell {}" }),
  row("a_3", { sessionTitle: LONG }),
]);

describe("the list of assent watch", () => {
  test("a long title leaves room for the agent and the directory", () => {
    const lines = listLines(STATE, { columns: 80, rows: 24, theme: makeTheme("none") }, 0);
    assert.equal(lines[2], "A title that says very much about every… · Assent · /w");
  });
  const places: readonly (readonly [name: string, id: string, line: RegExp])[] = [
    [
      "a card names its session and agent, and counts in the order of the list",
      "a_3",
      /^2 of 3 · A title that says very much a… · Assent · /,
    ],
    ["a card of a guarded agent names the agent", "a_2", /^3 of 3 · Claude Code · j\/k/],
  ];
  for (const [name, id, line] of places) test(name, () => assert.match(placeLine(STATE, id), line));
});
