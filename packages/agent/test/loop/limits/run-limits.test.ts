import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defineTool, staticPolicy, type Tool } from "@assent/core";
import { manualClock, scriptedApprover } from "@assent/core/testing";
import { z } from "zod";
import { createRunLimits, type RunLimits, type RunLimitsOptions } from "../../../src/loop/limits/run-limits.ts";
import { type Rehearsal, type RehearsalOptions, rehearse } from "../../rehearsal.ts";

type Limited = Rehearsal & { readonly limits: RunLimits };

/** A rehearsal under these limits. */
async function limited(script: string, most: Omit<RunLimitsOptions, "clock">, options: RehearsalOptions = {}): Promise<Limited> {
  const clock = manualClock();
  const limits = createRunLimits({ clock, ...most });
  const made = await rehearse(script, {
    ...options,
    clock,
    deps: { mayClaim: limits.claim, ...options.deps },
    talk: { limits, ...options.talk },
  });
  return { ...made, limits };
}

const CALL = "calls: [{ tool: echo, input: { text: a } }]";

/** Ends when its signal says so. */
const sleeper: Tool = defineTool({
  name: "sleep",
  description: "Sleeps.",
  kind: "other",
  input: z.object({}),
  run: (_input, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    }),
});

describe("the limits of a run", () => {
  test("a run that reaches its turn limit ends before the next turn, with every result delivered", async () => {
    const { send, events } = await limited(`turns: [{ ${CALL} }, { ${CALL} }, { say: never }]`, { maxTurns: 2 });
    assert.deepEqual(await send("go"), {
      reason: "turn_limit",
      text: "",
      error: { type: "limit_turns", message: "The limit of 2 turns is reached." },
    });
    assert.deepEqual([(await events("message.assistant")).length, (await events("call.ended")).length], [2, 2]);
  });

  test("turns of notices count, over the whole run", async () => {
    const { send, conversation, session } = await limited("turns: [{ say: a }, { say: never }]", { maxTurns: 1 });
    assert.equal((await send("go")).reason, "done");
    await session.record([session.draft("notice.queued", { notice: "n_1", kind: "task", modelText: "x", displayText: "x" })], "normal");
    const end = await conversation.resume(new AbortController().signal);
    assert.equal(end.error?.type, "limit_turns");
    assert.equal(session.state.notices.size, 1, "what could not be told stays queued");
  });

  test("turns of an agent are not the run's, and its own limit is one run's", async () => {
    const script = "turns: [{ say: a }, { say: b }, { say: c }]";
    const { send } = await limited(script, { maxTurns: 1 }, { talk: { agent: { id: "t_1", type: "explorer" }, maxTurns: 2 } });
    assert.equal((await send("go")).reason, "done");
    assert.equal((await send("go")).reason, "done");
  });

  test("the call that would be one too many and the rest of its batch are skipped, then the run ends", async () => {
    const three = "[1, 2, 3]".replaceAll(/\d/g, (id) => `{ tool: echo, id: c${id}, input: { text: a } }`);
    const { send, events } = await limited(`turns: [{ calls: ${three} }, { say: never }]`, { maxToolCalls: 1 });
    const end = await send("go");
    assert.deepEqual([end.reason, end.error?.type], ["budget", "limit_tool_calls"]);
    const ended = new Map((await events("call.ended")).map(({ body }) => [body.call, body]));
    assert.deepEqual(
      ["c1", "c2", "c3"].map((id) => [ended.get(id)?.outcome, ended.get(id)?.type]),
      [
        ["succeeded", null],
        ["cancelled", "skipped"],
        ["cancelled", "skipped"],
      ],
    );
    assert.match(String(ended.get("c2")?.content), /the limit of 1 tool call is reached/);
    assert.equal((await events("turn.ended")).length, 1);
  });

  test("a run that needs no more calls than it may have ends well", async () => {
    const { send } = await limited(`turns: [{ ${CALL} }, { say: done }]`, { maxToolCalls: 1, maxTurns: 2, maxTimeMs: 10 });
    assert.deepEqual(await send("go"), { reason: "done", text: "done" });
  });

  test("when time is up, running calls end cancelled and the run ends", async () => {
    const { send, clock, events } = await limited(
      "turns: [{ calls: [{ tool: sleep, input: {} }, { tool: sleep, input: {} }] }, { say: never }]",
      { maxTimeMs: 300 },
      { tools: [sleeper] },
    );
    const running = send("go");
    await clock.advance(299);
    assert.equal((await events("call.ended")).length, 0);
    await clock.advance(1);
    const end = await running;
    assert.deepEqual(end, {
      reason: "budget",
      text: "",
      error: { type: "limit_time", message: "The time limit of 300 ms is reached." },
    });
    const ended = await events("call.ended");
    assert.deepEqual(
      ended.map(({ body }) => body.outcome),
      ["cancelled", "cancelled"],
    );
    assert.match(String(ended[0]?.body.content), /the time limit of 300 ms is reached/);
    assert.equal((await events("turn.ended")).length, 1);
  });

  test("time ends a request that is under way", async () => {
    const { send, clock, events } = await limited("turns: [{ delayMs: 5000, say: late }]", { maxTimeMs: 300 });
    const running = send("go");
    await clock.advance(300);
    assert.equal((await running).error?.type, "limit_time");
    assert.equal((await events("turn.ended"))[0]?.body.reason, "aborted");
  });

  test("a person's cancel counts before a limit", async () => {
    const stop = new AbortController();
    const { conversation, clock, limits } = await limited("turns: [{ delayMs: 5000, say: late }]", { maxTimeMs: 300 });
    limits.signal.addEventListener("abort", () => stop.abort());
    const running = conversation.send("go", stop.signal);
    await clock.advance(300);
    assert.equal(limits.exceeded()?.type, "limit_time");
    assert.equal((await running).reason, "cancelled");
  });

  test("time in which a person is waited for does not count", async () => {
    const said = Promise.withResolvers<"approve">();
    const shown = Promise.withResolvers<void>();
    const approver = scriptedApprover(() => {
      shown.resolve();
      return said.promise;
    });
    const policy = staticPolicy({
      revision: "r1",
      mode: "default",
      checkers: [{ label: "team", scope: "team", check: () => ({ verdict: "ask" }) }],
      safeguards: [],
      honourReadOnlyHint: true,
    });
    const made = await limited(
      "turns: [{ calls: [{ tool: sleep, input: {} }] }, { say: never }]",
      { maxTimeMs: 300 },
      { tools: [sleeper], deps: { approver, policy } },
    );
    const running = made.send("go");
    await shown.promise;
    await made.clock.advance(1_000_000);
    assert.equal(made.limits.exceeded(), undefined);
    said.resolve("approve");
    await made.clock.advance(299);
    assert.equal(made.limits.exceeded(), undefined);
    await made.clock.advance(1);
    assert.equal((await running).error?.type, "limit_time");
  });

  const TABLE: readonly [sentence: string, act: (limits: RunLimits) => void, type: string | undefined][] = [
    ["nothing used", () => undefined, undefined],
    ["cost below the limit", (limits) => limits.spend({ inputTokens: 1_000_000, outputTokens: 0 }, "openai:gpt-5.4-mini"), undefined],
    ["cost at the limit", (limits) => limits.spend({ inputTokens: 2_000_000, outputTokens: 0 }, "openai:gpt-5.4-mini"), "limit_cost"],
    ["the cost of a model that nobody knows", (limits) => limits.spend({ inputTokens: 1, outputTokens: 1 }, "ollama:x"), "limit_cost"],
    ["a request whose tokens nobody counted", (limits) => limits.spend(null, "ollama:x"), undefined],
    ["as many claims as there may be", (limits) => void limits.claim(), undefined],
    ["a claim too many", (limits) => void [limits.claim(), limits.claim()], "limit_tool_calls"],
  ];
  for (const [sentence, act, type] of TABLE) {
    test(`${sentence}: ${type ?? "goes on"}`, () => {
      const limits = createRunLimits({ clock: manualClock(), maxCostUsd: 1.5, maxToolCalls: 1 });
      act(limits);
      assert.equal(limits.exceeded()?.type, type);
    });
  }

  test("a run that reaches its cost limit makes no further request; its last calls still run", async () => {
    const { send, events } = await limited(
      `turns: [{ ${CALL}, usage: { inputTokens: 2000000, outputTokens: 0 } }, { say: never }]`,
      { maxCostUsd: 1.5 },
      { create: { model: "openai:gpt-5.4-mini" } },
    );
    const end = await send("go");
    assert.deepEqual([end.reason, end.error?.type], ["budget", "limit_cost"]);
    assert.equal((await events("call.ended"))[0]?.body.outcome, "succeeded");
  });

  test("several waits pause the clock once, and the last one resumes it", async () => {
    const clock = manualClock();
    const limits = createRunLimits({ clock, maxTimeMs: 100 });
    limits.pauseClock();
    limits.pauseClock();
    limits.resumeClock();
    await clock.advance(1_000);
    assert.equal(limits.exceeded(), undefined);
    limits.resumeClock();
    await clock.advance(100);
    assert.equal(limits.exceeded()?.type, "limit_time");
    assert.equal(limits.signal.reason instanceof DOMException && limits.signal.reason.name, "TimeoutError");
  });

  test("a run that has ended leaves no timer", () => {
    const clock = manualClock();
    createRunLimits({ clock, maxTimeMs: 100 }).end();
    assert.equal(clock.pending(), 0);
  });
});
