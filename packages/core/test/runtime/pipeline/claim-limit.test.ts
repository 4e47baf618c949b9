import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GateError } from "@assent/core";
import { bench, call, outcomes, rest, says, textOf, textTool, until } from "../harness.ts";

/** Lets so many calls be claimed; `asked` counts every question. */
function most(count: number) {
  let asked = 0;
  const mayClaim = (): string | undefined => {
    asked += 1;
    return asked > count ? `the limit of ${count} tool calls is reached` : undefined;
  };
  return { asked: () => asked, mayClaim };
}

describe("a limit of claims", () => {
  test("the call that would be one too many and the rest of its batch are skipped, and the report says so", async (t) => {
    const b = await bench(t, { policy: { mode: "yolo" }, deps: most(1) });
    const report = await b.process([call("edit", "a", "c1"), call("edit", "b", "c2"), call("edit", "c", "c3")]);
    assert.deepEqual(outcomes(report), ["succeeded", "cancelled skipped", "cancelled skipped"]);
    assert.equal(report.endedBy, "limit");
    assert.equal(report.stopRun, false);
    assert.equal(textOf(report.results[1]), "Tool 'edit' was skipped: the limit of 1 tool calls is reached.");
    assert.equal(textOf(report.results[2]), "Tool 'edit' was skipped: the limit of 1 tool calls is reached.");
    assert.deepEqual(b.world.lines, ["a"]);
    assert.equal((await b.stored("call.claimed")).length, 1);
  });

  test("calls that are never claimed are not counted", async (t) => {
    const limit = most(1);
    const b = await bench(t, { policy: { mode: "yolo", rules: { team: { deny: ["read"] } } }, deps: limit });
    const report = await b.process([call("read", "x"), call("nobody", "x"), call("edit", "a")]);
    assert.deepEqual(outcomes(report), ["denied denied_by_rule", "invalid tool_not_registered", "succeeded"]);
    assert.equal(report.endedBy, undefined);
    assert.equal(limit.asked(), 1);
  });

  test("a call that runs already keeps its result", async (t) => {
    const b = await bench(t, { policy: { mode: "yolo" }, deps: most(1) });
    const running = b.process([call("slow_read", "one"), call("read", "two")]);
    await b.gates.reached("one");
    b.gates.open("one");
    assert.deepEqual(outcomes(await running), ["succeeded", "cancelled skipped"]);
  });

  test("a call that waits for a person is skipped, and its approval closes", async (t) => {
    const b = await bench(t, { policy: { rules: { team: { ask: ["edit"], allow: ["read"] } } }, deps: most(0) });
    const report = await b.process([call("read", "r"), call("edit", "e")]);
    assert.deepEqual(outcomes(report), ["cancelled skipped", "cancelled skipped"]);
    assert.deepEqual(b.dispatcher.pending(), []);
  });

  test("a claim that is lost and made again counts once", async (t) => {
    const limit = most(1);
    const b = await bench(t, { policy: { rules: { team: { ask: ["edit"] } } }, deps: limit });
    const running = b.process([call("edit", "x")]);
    await until(() => b.dispatcher.pending().length === 1);
    const [open] = b.dispatcher.pending();
    await b.dispatcher.answer(says(open?.id ?? ""));
    b.policy.set({ rules: { team: { ask: ["edit"], allow: ["read"] } } });
    await rest();
    assert.deepEqual(outcomes(await running), ["succeeded"]);
    assert.equal(limit.asked(), 1);
  });

  test("a nested call counts, and its body is told", async (t) => {
    const outer = textTool("outer", "other", {
      permission: () => "allow",
      run: async (_input, { gate }) => {
        try {
          await gate({ name: "edit", arguments: { text: "x" } });
          return "ran";
        } catch (error) {
          return error instanceof GateError ? `${error.type}: ${error.message}` : "threw";
        }
      },
    });
    const b = await bench(t, { policy: { mode: "yolo" }, tools: [outer], deps: most(1) });
    const report = await b.process([call("outer", "o")]);
    assert.equal(textOf(report.results[0]), "skipped: Tool 'edit' was skipped: the limit of 1 tool calls is reached.");
    assert.equal(report.endedBy, "limit");
    assert.deepEqual(b.world.lines, []);
  });

  test("a limit that throws lets nothing pass", async (t) => {
    const b = await bench(t, {
      policy: { mode: "yolo" },
      deps: {
        mayClaim: () => {
          throw new Error("no");
        },
      },
    });
    assert.deepEqual(outcomes(await b.process([call("edit", "a")])), ["denied unhandled_exception"]);
    assert.deepEqual(b.world.lines, []);
  });

  test("time that runs out is not told as a person's wish", async (t) => {
    const stop = new AbortController();
    const b = await bench(t, { policy: { mode: "yolo" } });
    const running = b.process([call("slow_edit", "one"), call("edit", "two")], { signal: stop.signal });
    await b.gates.reached("one");
    stop.abort(new DOMException("the time limit of 300 ms is reached", "TimeoutError"));
    b.gates.open("one");
    const report = await running;
    assert.deepEqual(outcomes(report), ["cancelled cancelled", "cancelled cancelled"]);
    assert.equal(
      textOf(report.results[0]),
      "The tool call was cancelled while it was running: the time limit of 300 ms is reached. It may have had effects.",
    );
    assert.equal(textOf(report.results[1]), "The tool call was cancelled before it ran: the time limit of 300 ms is reached.");
  });
});
