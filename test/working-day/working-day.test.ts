import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DAY } from "./day.ts";
import { replayDay } from "./replay-day.ts";

const MORNING = DAY.slice(0, 1);
const CALLS = MORNING.flatMap(({ turns }) => turns).flatMap(({ calls = [] }) => calls).length;

describe("a working day on a terminal", { concurrency: 2 }, () => {
  test("the whole day has about 60 calls, of every common kind", () => {
    const calls = DAY.flatMap(({ turns }) => turns).flatMap((turn) => turn.calls ?? []);
    assert.ok(calls.length >= 55 && calls.length <= 75, `${calls.length}`);
    assert.deepEqual([...new Set(calls.map(({ tool }) => tool))].sort(), ["edit", "read", "search", "shell", "write"]);
  });

  test("every question is counted, and a person who saves rules is asked no more often", async () => {
    const [once, always] = await Promise.all([
      replayDay({ tasks: MORNING, person: "once" }),
      replayDay({ tasks: MORNING, person: "always" }),
    ]);
    assert.deepEqual([once.calls, always.calls], [CALLS, CALLS]);
    assert.deepEqual([once.others, always.others], [[], []]);
    assert.ok(once.questions > 0 && always.questions <= once.questions, `${once.questions} ${always.questions}`);
  });

  test("settings and modes change how often the person is asked", async () => {
    const [edits, all] = await Promise.all([
      replayDay({ tasks: MORNING, settings: { permissions: { allow: ["Edit"] } } }),
      replayDay({ tasks: MORNING, args: ["--mode", "yolo"] }),
    ]);
    assert.deepEqual([Object.keys(edits.byTool), edits.others], [["shell"], []]);
    assert.deepEqual([all.questions, all.others], [0, []]);
  });
});
