import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TaskView } from "@assent/agent";
import { confirmLeaving, farewellText } from "../../../src/tui/conversation/leaving.ts";

function task(over: Partial<TaskView>): TaskView {
  return {
    ...{ id: "t_1", agent: "shell", description: "npm run dev", callId: "c1", session: "s_1", status: "running", foreground: false },
    ...{ startedAt: "", model: null, mode: "default", usage: { totalTokens: 0, toolUses: 0, durationMs: 0 }, outputFile: "/out", ...over },
  };
}

describe("leaving", () => {
  const heard = (tasks: { now: readonly TaskView[] }) => {
    const said: string[] = [];
    const leaving = confirmLeaving({ tasks: () => tasks.now, hint: (text) => said.push(text), leave: () => said.push("left") });
    return { said, ...leaving };
  };

  test("with nothing in the background it leaves at once; what has ended or is paused ends by nothing", () => {
    const { said, leave } = heard({ now: [task({ status: "completed" }), task({ status: "paused" }), task({ foreground: true })] });
    leave();
    assert.deepEqual(said, ["left"]);
  });

  test("what would end is said first; the second time leaves", () => {
    const { said, leave } = heard({
      now: [task({}), task({ id: "t_2", agent: "explorer", description: "look", outputFile: undefined as never })],
    });
    leave();
    assert.deepEqual(said, ["Leaving ends npm run dev (t_1), explorer: look (t_2). Repeat to leave."]);
    leave();
    assert.deepEqual(said.slice(1), ["left"]);
  });

  test("it is said again after something else was wanted, and when something else would end", () => {
    const tasks = { now: [task({})] };
    const { said, leave, stay } = heard(tasks);
    leave();
    stay();
    leave();
    tasks.now = [task({ id: "t_9" })];
    leave();
    assert.deepEqual(
      said.map((text) => /\(t_\d\)/.exec(text)?.[0]),
      ["(t_1)", "(t_1)", "(t_9)"],
    );
  });

  test("the farewell says what ended, what is paused, and how to continue", () => {
    const context = { options: { text: () => undefined } } as never;
    const left = { exit: 0, session: "s_1", waiting: [], ended: ["npm run dev (t_1)"], paused: ["explorer: look (t_2)"] };
    assert.equal(
      farewellText(context, left),
      "Ended: npm run dev (t_1)\nPaused: explorer: look (t_2)\nContinue with: assent resume s_1 --tasks\n",
    );
    assert.equal(farewellText(context, { ...left, ended: [], paused: [] }), "Continue with: assent resume s_1\n");
    assert.equal(farewellText(context, { ...left, session: undefined }), "");
  });
});
