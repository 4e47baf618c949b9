import assert from "node:assert/strict";
import { test } from "node:test";
import type { TaskView } from "@assent/agent";
import { makeTheme } from "../../../src/tui/draw/theme.ts";
import { taskPanel } from "../../../src/tui/screen/layout.ts";

const STARTED = "2026-01-01T00:00:00.000Z";
const NOW = Date.parse(STARTED) + 7_000;
const CANVAS = { columns: 64, rows: 24, theme: makeTheme("none") };

function task(over: Partial<TaskView>): TaskView {
  return {
    ...{ id: "t_1", agent: "explorer", description: "find leftovers", callId: "c1", session: "s_2", status: "running", foreground: false },
    ...{ startedAt: STARTED, model: null, mode: "default", usage: { totalTokens: 0, toolUses: 3, durationMs: 0 }, ...over },
  };
}

const ROWS: readonly (readonly [string, readonly TaskView[], readonly string[]])[] = [
  [
    "an agent that runs says for how long, and how many calls it made",
    [task({})],
    ["● explorer: find leftovers  running 7 s · 3 calls · t_1"],
  ],
  [
    "a command has no calls",
    [task({ agent: "shell", description: "npm run dev", outputFile: "/out/t_1" })],
    ["● shell: npm run dev  running 7 s · t_1"],
  ],
  [
    "one that is paused says why",
    [task({ status: "paused", blockedReason: "approval" })],
    ["● explorer: find le…  paused: it needs an answer · 3 calls · t_1"],
  ],
  ["one that ended, or that its call waits for, is not shown", [task({ status: "completed" }), task({ foreground: true })], []],
  [
    "what is too long is cut, and how it stands and its id are kept",
    [task({ description: "x".repeat(80) })],
    [`● explorer: ${"x".repeat(22)}…  running 7 s · 3 calls · t_1`],
  ],
  [
    "a long command keeps its id",
    [task({ id: "t_call_12", agent: "shell", description: `for i in 1 2 3; do echo ${"tick ".repeat(20)}; done`, outputFile: "/out/t_1" })],
    ["● shell: for i in 1 2 3; do echo tick …  running 7 s · t_call_12"],
  ],
];

for (const [name, tasks, lines] of ROWS) {
  test(name, () => assert.deepEqual(taskPanel(tasks, CANVAS, NOW), lines));
}

test("more than four are counted", () => {
  assert.equal(
    taskPanel(
      Array.from({ length: 6 }, () => task({})),
      CANVAS,
      NOW,
    ).at(-1),
    "  … 2 more: /tasks",
  );
});
