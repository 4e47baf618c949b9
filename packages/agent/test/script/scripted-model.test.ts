import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { manualClock } from "@assent/core/testing";
import { playScript, readScript, type ScriptPlayer } from "../../src/index.ts";
import { toolMessage, userMessage } from "../../src/loop/history/messages.ts";
import { streamAnswer } from "../../src/loop/model/stream-answer.ts";
import type { StreamEvent } from "../../src/loop/model/stream-events.ts";
import { rehearse } from "../rehearsal.ts";

const play = (text: string): ScriptPlayer => playScript(readScript(text, "s.yaml"), manualClock());

const tool = (name: string) => ({ type: "function", name, inputSchema: { type: "object" } }) as const;

type Asked = Partial<Omit<LanguageModelV4CallOptions, "prompt">> & { readonly prompt?: LanguageModelV4Message[] };

async function ask(model: LanguageModelV4, { prompt = [], ...more }: Asked = {}): Promise<string> {
  return (await streamAnswer(model, { prompt, ...more }, () => undefined)).text;
}

const result = (outcome: string, type: string | null, content: string): LanguageModelV4Message =>
  toolMessage([{ callId: "c1", tool: "t", outcome, type, content }]);

describe("what a turn expects", () => {
  const rows: readonly [sentence: string, expect: string, asked: Asked, fault: RegExp | undefined][] = [
    ["toolChoice, a tool that is forced", "toolChoice: resolve", { toolChoice: { type: "tool", toolName: "resolve" } }, undefined],
    [
      "toolChoice, the only tool of several that must be called",
      "toolChoice: a",
      { toolChoice: { type: "required" }, tools: [tool("a")] },
      undefined,
    ],
    [
      "toolChoice, another tool",
      "toolChoice: resolve",
      { toolChoice: { type: "tool", toolName: "edit" } },
      /toolChoice: expected resolve, actual edit/,
    ],
    ["toolChoice required", "toolChoice: required", { toolChoice: { type: "required" }, tools: [tool("a"), tool("b")] }, undefined],
    ["toolChoice none", "toolChoice: none", { toolChoice: { type: "none" } }, undefined],
    [
      "nothing forced, where something is",
      "toolChoice: null",
      { toolChoice: { type: "tool", toolName: "resolve" } },
      /expected nothing forced, actual resolve/,
    ],
    ["nothing forced, where nothing is", "toolChoice: null", { toolChoice: { type: "auto" } }, undefined],
    ["result: all of contains", "result: { call: c1, contains: [a, b] }", { prompt: [result("succeeded", null, "a b")] }, undefined],
    [
      "result: one of contains is missing",
      "result: { call: c1, contains: [a, z] }",
      { prompt: [result("succeeded", null, "a b")] },
      /'a' and 'z'/,
    ],
    ["result: none of notContains", "result: { call: c1, notContains: z }", { prompt: [result("succeeded", null, "a")] }, undefined],
    [
      "result: one of notContains is there",
      "result: { call: c1, notContains: [z, a] }",
      { prompt: [result("succeeded", null, "a")] },
      /no 'z' and no 'a'/,
    ],
    ["result: letters count as they are", "result: { call: c1, contains: A }", { prompt: [result("succeeded", null, "a")] }, /'A'/],
    [
      "result: outcome and type",
      "result: { call: c1, outcome: denied, type: denied_by_rule }",
      { prompt: [result("denied", "denied_by_rule", "no")] },
      undefined,
    ],
    [
      "result: another outcome",
      "result: { call: c1, outcome: denied }",
      { prompt: [result("failed", "x", "no")] },
      /outcome: expected denied, actual failed/,
    ],
    ["result: another type", "result: { call: c1, type: y }", { prompt: [result("failed", "x", "no")] }, /type: expected y, actual x/],
    [
      "result: the newest counts",
      "result: { call: c1, contains: new }",
      { prompt: [result("failed", "x", "old"), result("succeeded", null, "new")] },
      undefined,
    ],
    ["result: none", "result: { call: c1 }", {}, /expected one of call c1, actual none/],
    [
      "results: all must hold",
      "results: [{ call: c1, contains: a }, { call: c2 }]",
      { prompt: [result("succeeded", null, "a")] },
      /call c2/,
    ],
    ["reminders: each is found", "reminders: [{ contains: tea }]", { prompt: [userMessage("tea time", "reminder")] }, undefined],
    ["reminders: missing", "reminders: [{ contains: tea }]", { prompt: [userMessage("tea time", "user")] }, /reminders: expected 'tea'/],
    ["reminders: none wanted", "reminders: []", { prompt: [userMessage("tea time", "reminder")] }, /reminders: expected none/],
    ["reminders: none there", "reminders: []", { prompt: [userMessage("tea time", "user")] }, undefined],
    [
      "notices: contains and notContains",
      "notices: [{ contains: tea, notContains: milk }]",
      { prompt: [userMessage("tea", "notice")] },
      undefined,
    ],
    [
      "notices: notContains alone",
      "notices: [{ notContains: tea }]",
      { prompt: [userMessage("tea", "notice")] },
      /notices: expected no 'tea'/,
    ],
    ["notices: a schedule's is one", "notices: [{ contains: tea }]", { prompt: [userMessage("tea", "schedule")] }, undefined],
    ["notices: none wanted", "notices: []", { prompt: [userMessage("tea", "notice")] }, /notices: expected none/],
    ["tools: offered and not offered", "tools: { has: [a], hasNot: [b] }", { tools: [tool("a")] }, undefined],
    ["tools: missing", "tools: { has: [b] }", { tools: [tool("a")] }, /tools: expected b offered/],
    ["tools: there", "tools: { hasNot: [a] }", { tools: [tool("a")] }, /tools: expected a not offered/],
    ["model, as it was asked for", "model: m1", {}, undefined],
    ["model, another one", "model: m2", {}, /model: expected m2, actual m1/],
  ];
  for (const [sentence, expect, asked, fault] of rows) {
    test(sentence, async () => {
      const answer = ask(play(`turns: [{ expect: { ${expect} }, say: ok }]`).model("m1"), asked);
      if (!fault) return assert.equal(await answer, "ok");
      await assert.rejects(answer, (error: Error & { type?: string }) => {
        assert.equal(error.type, "expectation_failed");
        assert.match(error.message, /^Script of main, turn 1: /);
        assert.match(error.message, fault);
        return true;
      });
    });
  }

  test("the default model id is script", async () => {
    assert.equal(await ask(play("turns: [{ expect: { model: script }, say: ok }]").model()), "ok");
  });

  test("in the first request of a process new is what came after the newest answer", async () => {
    const model = play("turns: [{ expect: { notices: [{ contains: two }] }, say: a }]").model();
    const old: LanguageModelV4Message = { role: "assistant", content: [{ type: "text", text: "noted" }] };
    const prompt = [userMessage("one", "notice"), old, userMessage("two", "notice")];
    assert.equal(await ask(model, { prompt }), "a");
    const none = play("turns: [{ expect: { notices: [] }, say: a }]").model();
    assert.equal(await ask(none, { prompt: prompt.slice(0, 2) }), "a");
  });

  test("new is what was not in the request before, also after the history was made smaller", async () => {
    const model = play(
      `turns: [{ expect: { notices: [{ contains: one }] }, say: a }, { expect: { notices: [] }, say: b }, { expect: { notices: [{ contains: two }] }, say: c }]`,
    ).model();
    const prompt = [userMessage("go", "user"), userMessage("one", "notice")];
    await ask(model, { prompt });
    await ask(model, { prompt });
    prompt.splice(0, 1);
    prompt.push(userMessage("two", "notice"));
    assert.equal(await ask(model, { prompt }), "c");
  });
});

describe("keys of a turn", () => {
  test("raw arguments are sent unchanged, missing ids are generated, usage is reported", async () => {
    const model = play(
      "turns: [{ calls: [{ tool: t, raw: '{oops' }, { tool: t, id: mine, input: { a: 1 } }], usage: { inputTokens: 3, outputTokens: 2, cachedInputTokens: 1 } }]",
    ).model();
    const answer = await streamAnswer(model, { prompt: [] }, () => undefined);
    assert.deepEqual(answer.calls, [
      { id: "call_1_1", name: "t", arguments: "{oops" },
      { id: "mine", name: "t", arguments: '{"a":1}' },
    ]);
    assert.deepEqual(answer.usage, { inputTokens: 3, outputTokens: 2, cachedInputTokens: 1 });
    assert.equal(answer.providerId, "script:1");
  });

  test("a call arrives whole, and its arguments are streamed as one piece", async () => {
    const player = play("turns: [{ calls: [{ tool: t, input: { a: 1 } }] }]");
    assert.equal(player.model(), player.model());
    const heard: StreamEvent[] = [];
    await streamAnswer(player.model(), { prompt: [] }, (event) => heard.push(event));
    assert.deepEqual(heard, [
      { type: "message_start" },
      { type: "block_start", index: 0, block: { type: "call", id: "call_1_1", tool: "t" } },
      { type: "delta", index: 0, delta: { type: "input", delta: '{"a":1}' } },
      { type: "block_stop", index: 0 },
      { type: "message_stop", stop: "tool-calls" },
    ]);
  });

  test("a request that fails is answered by the next turn when it is made again", async () => {
    const { send, clock } = await rehearse("turns: [{ error: { status: 503, message: busy } }, { say: ok }]");
    const running = send("go");
    await clock.advance(1_000);
    assert.deepEqual(await running, { reason: "done", text: "ok" });
  });

  test("a delay passes on the clock, and can be aborted", async () => {
    const clock = manualClock();
    const model = playScript(readScript("turns: [{ delayMs: 50, say: a }, { delayMs: 50, say: b }]", "s"), clock).model();
    const first = ask(model);
    await clock.advance(50);
    assert.equal(await first, "a");
    const stop = new AbortController();
    const second = assert.rejects(ask(model, { abortSignal: stop.signal }), { name: "AbortError" });
    await clock.advance(10);
    stop.abort();
    await second;
    assert.equal(clock.pending(), 0);
  });

  test("truncated ends at the token limit", async () => {
    const answer = await streamAnswer(play("turns: [{ say: a, truncated: true }]").model(), { prompt: [] }, () => undefined);
    assert.deepEqual([answer.stop, answer.truncated], ["length", true]);
  });

  test("turns continue across user messages and a resume", async () => {
    const script = "turns: [{ say: a }, { say: b }, { say: c }]";
    const first = await rehearse(script);
    assert.equal((await first.send("one")).text, "a");
    assert.equal((await first.send("two")).text, "b");
    const again = await rehearse(script, { after: first });
    assert.equal((await again.send("three")).text, "c");
    again.player.assertUsed();
  });
});

describe("agents", () => {
  const SCRIPT =
    "turns: [{ say: main }]\nagents:\n  explorer: { turns: [{ say: a }, { say: b }] }\n  fork: { turns: [{ say: f }, { say: g }], allowUnused: true }\n";

  test("every started agent begins at its first turn", async () => {
    const player = play(SCRIPT);
    const [one, two] = [player.agent("explorer"), player.agent("explorer")];
    assert.deepEqual([await ask(one), await ask(two), await ask(one)], ["a", "a", "b"]);
    assert.equal(await ask(player.model()), "main");
  });

  test("a resumed agent continues after the turn of its own newest answer", async () => {
    const player = play(SCRIPT);
    assert.equal(await ask(player.agent("explorer", { after: "script:1" })), "b");
    const late = player.agent("explorer");
    late.resumeAfter("script:1");
    assert.equal(await ask(late), "b");
    assert.equal(await ask(player.agent("explorer", { after: null })), "a");
  });

  test("its model is asked for by its own id, or by another", async () => {
    const player = play("turns: []\nagents:\n  x: { turns: [{ expect: { model: m1 }, say: a }, { expect: { model: m2 }, say: b }] }\n");
    const agent = player.agent("x", { id: "m1" });
    assert.deepEqual([await ask(agent), await ask(agent.as("m2"))], ["a", "b"]);
  });

  test("turns that are left fail an agent that came to its goal, and the run; not with allowUnused", async () => {
    const player = play(SCRIPT);
    const explorer = player.agent("explorer");
    await ask(explorer);
    await ask(player.model());
    player.assertUsed();
    assert.throws(() => explorer.assertUsed(), {
      type: "script_unused",
      message: "The agent explorer ended and 1 turn of the script was not used.",
    });
    assert.throws(() => player.assertUsed(), { type: "script_unused", message: /The agent explorer/ });
    const fork = play(SCRIPT).agent("fork");
    await ask(fork);
    fork.assertUsed();
  });

  test("a request beyond the script fails only that agent", async () => {
    const player = play(SCRIPT);
    const nobody = player.agent("constructor");
    await assert.rejects(ask(nobody), {
      type: "script_exhausted",
      message: /^The script has no turn for the agent constructor, .* under agents, for example: - say: Done\.$/,
    });
    assert.equal(player.failed.aborted, false);
    assert.equal(await ask(player.model()), "main");
  });

  test("an expectation that fails in an agent ends the whole run", async () => {
    const player = play("turns: [{ say: main }]\nagents:\n  x: { turns: [{ expect: { toolChoice: resolve }, say: a }] }\n");
    await assert.rejects(ask(player.agent("x")), { type: "expectation_failed", message: /^Script of x, turn 1: / });
    assert.equal(player.failed.aborted, true);
    await assert.rejects(ask(player.model()), { type: "expectation_failed", message: /^Script of x/ });
  });

  test("and the conversation that is under way learns of it at once", async () => {
    const player = play("turns: []\nagents:\n  x: { turns: [{ expect: { toolChoice: resolve }, say: a }] }\n");
    const { send, clock } = await rehearse("turns: [{ delayMs: 1000, say: late }]", { talk: { halt: player.failed } });
    const running = send("go");
    await clock.advance(10);
    await assert.rejects(ask(player.agent("x")));
    const end = await running;
    assert.deepEqual([end.reason, end.error?.type], ["failed", "expectation_failed"]);
  });
});
