import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type DispatchEvent, defineTool } from "@assent/core";
import { generateText, isStepCount, jsonSchema, type ModelMessage, streamText, type ToolSet, tool } from "ai";
import { z } from "zod";
import { aiTools, type Embedding, findRunStop, isRunStopped, resumeAiTools } from "../../src/index.ts";
import { ANN, answering, embed, scripted, until } from "./embedded.ts";

const STOP = [isStepCount(10), isRunStopped];

/** What the model was told, by the id of the call. */
function told(messages: readonly ModelMessage[]): Record<string, unknown> {
  const parts = messages.flatMap(({ role, content }) => (role === "tool" && Array.isArray(content) ? content : []));
  return Object.fromEntries(parts.flatMap((part) => (part.type === "tool-result" ? [[part.toolCallId, part.output]] : [])));
}

async function generate(on: Embedding, turns: string): Promise<{ readonly told: Record<string, unknown>; readonly text: string }> {
  const { responseMessages, text } = await generateText({ model: scripted(turns), tools: aiTools(on), stopWhen: STOP, prompt: "Go." });
  return { told: told(responseMessages), text };
}

/** One step with these calls, then a word. */
function oneStep(...calls: readonly string[]): string {
  return `  - calls:\n${calls.map((call) => `      - ${call}`).join("\n")}\n  - say: Done.\n`;
}

describe("what the model sees in a loop of `ai`", () => {
  const rows: readonly [sentence: string, call: string, output: object, type: string | null][] = [
    ["a success is text", "{ tool: read, id: c1, input: { name: a } }", { type: "text", value: "read a: done" }, null],
    [
      "a denial is an error's text",
      "{ tool: write, id: c1, input: { name: forbidden } }",
      { type: "error-text", value: "Tool 'write' is denied by user permissions." },
      "denied_by_rule",
    ],
    [
      "a failure is an error's text",
      "{ tool: read, id: c1, input: { name: broken } }",
      { type: "error-text", value: "Error: Tool call execution failed. Reason: It broke." },
      "execution_failed",
    ],
  ];
  for (const [sentence, call, output, type] of rows) {
    test(sentence, async () => {
      const on = await embed();
      const { told: results, text } = await generate(on, oneStep(call));
      assert.equal(text, "Done.", "the loop goes on");
      assert.partialDeepStrictEqual(results["c1"], output);
      assert.deepEqual(
        (await on.events("call.ended")).map(({ body }) => body.type),
        [type],
      );
    });
  }

  test("an object is sent as JSON text, and the output has its value", async () => {
    const rows = [{ id: 1 }];
    const table = defineTool({ name: "table", description: "Lists rows.", kind: "other", input: z.object({}), run: () => rows });
    const on = await embed({ more: [table] });
    const model = scripted(oneStep("{ tool: table, id: c1 }"));
    const { steps, responseMessages } = await generateText({ model, tools: aiTools(on), stopWhen: STOP, prompt: "Go." });
    assert.partialDeepStrictEqual(told(responseMessages)["c1"], { type: "text", value: '[{"id":1}]' });
    assert.partialDeepStrictEqual(steps[0]?.toolResults[0]?.output, { value: rows });
  });

  test("invalid input is reported in the dispatcher's words, and recorded", async () => {
    const on = await embed();
    const { told: results, text } = await generate(
      on,
      oneStep("{ tool: read, id: c1, input: { name: { first: x } } }", "{ tool: read, id: c2 }"),
    );
    assert.equal(text, "Done.");
    for (const id of ["c1", "c2"]) assert.partialDeepStrictEqual(results[id], { type: "error-text" });
    assert.match(JSON.stringify(results["c2"]), /Invalid parameters provided/);
    assert.deepEqual(
      (await on.events("call.ended")).map(({ body }) => body.outcome),
      ["invalid", "invalid"],
    );
    assert.deepEqual(on.ran, []);
  });

  test("what `ai` itself cannot read never reaches a body, and the loop goes on", async () => {
    const on = await embed();
    const { told: results, text } = await generate(on, oneStep("{ tool: raed, id: c1 }", '{ tool: read, id: c2, raw: "{" }'));
    assert.equal(text, "Done.");
    for (const id of ["c1", "c2"]) assert.partialDeepStrictEqual(results[id], { type: "error-text" });
    assert.deepEqual(on.ran, []);
  });

  test("files of a result follow its text", async () => {
    const { told: results } = await generate(await embed(), oneStep("{ tool: picture, id: c1, input: { name: cat } }"));
    assert.deepEqual(results["c1"], {
      type: "content",
      value: [
        { type: "text", text: 'cat\n{"n":1}' },
        { type: "file", mediaType: "image/png", data: { type: "data", data: "iVBORw0KGgo=" } },
        { type: "file", mediaType: "application/pdf", data: { type: "data", data: "JVBERg==" }, filename: "a.pdf" },
      ],
    });
  });

  test("an id that comes again is another call, and its result goes to where the id came", async () => {
    const on = await embed();
    const turns = `  - calls: [{ tool: read, id: c1, input: { name: a } }]\n  - calls: [{ tool: read, id: c1, input: { name: b } }]\n  - say: Done.\n`;
    const { responseMessages } = await generateText({ model: scripted(turns), tools: aiTools(on), stopWhen: STOP, prompt: "Go." });
    const values = responseMessages.flatMap((message) => Object.values(told([message])));
    assert.deepEqual(
      values.map((value) => (value as { value: string }).value),
      ["read a: done", "read b: done"],
    );
    assert.deepEqual(
      (await on.events("call.ended")).map(({ body }) => body.call),
      ["c1", "c1#2"],
    );
  });
});

describe("calls of one step are one batch", () => {
  const calls = [
    "{ tool: read, id: c1, input: { name: a } }",
    "{ tool: write, id: c2, input: { name: b } }",
    "{ tool: read, id: c3, input: { name: c } }",
  ];
  for (const [how, run] of [
    [
      "streamText",
      async (on: Embedding) =>
        void (await streamText({ model: scripted(oneStep(...calls)), tools: aiTools(on), stopWhen: STOP, prompt: "Go." }).consumeStream()),
    ],
    ["generateText", async (on: Embedding) => void (await generate(on, oneStep(...calls)))],
  ] as const) {
    test(`${how}: a read waits for the write before it, and all are judged before anything is asked`, async () => {
      const on = await embed({ deps: { approver: answering("approve") } });
      await run(on);
      assert.deepEqual(on.ran, ["read a+", "read a-", "write b+", "write b-", "read c+", "read c-"]);
      assert.deepEqual(
        (await on.events("call.proposed")).map(({ body }) => [body.call, body.index, body.turn]),
        [
          ["c1", 0, 1],
          ["c2", 1, 1],
          ["c3", 2, 1],
        ],
      );
    });
  }

  test("reads of one step run at the same time", async () => {
    const on = await embed();
    await generate(on, oneStep("{ tool: read, input: { name: a } }", "{ tool: read, input: { name: b } }"));
    assert.deepEqual(on.ran.slice(0, 2), ["read a+", "read b+"]);
  });

  test("with time limits of `ai` for each call they are batches of their own, in order", async () => {
    const on = await embed({ deps: { approver: answering("approve") } });
    await generateText({
      model: scripted(oneStep(...calls)),
      tools: aiTools(on),
      stopWhen: STOP,
      prompt: "Go.",
      timeout: { toolMs: 60_000 },
    });
    assert.deepEqual(on.ran, ["read a+", "read a-", "write b+", "write b-", "read c+", "read c-"]);
    assert.deepEqual(
      (await on.events("call.proposed")).map(({ body }) => [body.call, body.index]),
      [
        ["c1", 0],
        ["c2", 0],
        ["c3", 0],
      ],
    );
  });
});

describe("approvals", () => {
  test("a person says yes through a callback, and the loop waits for it", async () => {
    const on = await embed({ deps: { approver: answering("approve") } });
    const { told: results } = await generate(on, oneStep("{ tool: write, id: c1, input: { name: a } }"));
    assert.partialDeepStrictEqual(results["c1"], { type: "text", value: "write a: done" });
  });

  test("a rejection and its reason reach the model, and the loop continues", async () => {
    const on = await embed({ deps: { approver: answering("reject", "not today") } });
    const { told: results, text } = await generate(on, oneStep("{ tool: write, id: c1, input: { name: a } }"));
    assert.partialDeepStrictEqual(results["c1"], { type: "error-text" });
    assert.match(JSON.stringify(results["c1"]), /not today/);
    assert.equal(text, "Done.");
    assert.deepEqual(on.ran, []);
  });

  test("what was rejected is not asked again in the same run, and may be asked in the next", async () => {
    let asked = 0;
    const approver = {
      ...answering("reject"),
      ask: async ({ id }: { id: string }) => ({ approval: id, outcome: "reject" as const, by: ANN, at: ++asked }),
    };
    const on = await embed({ deps: { approver } });
    const twice = "  - calls: [{ tool: write, input: { name: a } }]\n  - calls: [{ tool: write, input: { name: a } }]\n  - say: Done.\n";
    await generate(on, twice);
    assert.equal(asked, 1);
    await generate(on, oneStep("{ tool: write, input: { name: a } }"));
    assert.equal(asked, 2);
  });

  test("a waiting call ends the loop and gets its one result when the run is resumed", async () => {
    const on = await embed({ deps: { onAsk: "park" } });
    const turns =
      "  - calls: [{ tool: read, id: c1, input: { name: a } }, { tool: write, id: c2, input: { name: b } }, { tool: read, id: c3, input: { name: c } }]\n";
    const { steps, responseMessages } = await generateText({ model: scripted(turns), tools: aiTools(on), stopWhen: STOP, prompt: "Go." });
    assert.equal(steps.length, 1);
    assert.equal(findRunStop(steps)?.reason, "parked");
    const [opened] = await on.events("approval.opened");
    assert.match(findRunStop(steps)?.message ?? "", new RegExp(`^Waits for approval ${opened?.body.approval}\\.`));
    assert.match(JSON.stringify(told(responseMessages)["c2"]), new RegExp(`Not run: .*${opened?.body.approval}`));

    const kept: ModelMessage[] = JSON.parse(JSON.stringify(responseMessages));
    const waiting = await resumeAiTools(on, kept, new AbortController().signal);
    assert.equal(waiting.stop?.reason, "parked", "nobody has answered");
    assert.deepEqual(told(waiting.messages)["c1"], told(kept)["c1"]);

    await on.dispatcher.answer({ approval: opened?.body.approval ?? "", outcome: "approve", by: ANN });
    const { messages, stop } = await resumeAiTools(on, waiting.messages, new AbortController().signal);
    assert.equal(stop, undefined);
    assert.deepEqual(told(messages), {
      c1: { type: "text", value: "read a: done" },
      c2: { type: "text", value: "write b: done" },
      c3: { type: "text", value: "read c: done" },
    });
    const next = await generateText({
      model: scripted("  - { expect: { results: [{ call: c2, contains: done }, { call: c3, contains: done }] }, say: All done. }\n"),
      tools: aiTools(on),
      messages: [{ role: "user", content: "Go." }, ...messages],
    });
    assert.equal(next.text, "All done.");
    assert.deepEqual(on.ran, ["read a+", "read a-", "write b+", "write b-", "read c+", "read c-"]);
  });

  test("a result that only the record knows is found there", async () => {
    const on = await embed({ deps: { onAsk: "park" } });
    const turns = "  - calls: [{ tool: write, id: c1, input: { name: b } }]\n";
    const { responseMessages } = await generateText({ model: scripted(turns), tools: aiTools(on), stopWhen: STOP, prompt: "Go." });
    const [opened] = await on.events("approval.opened");
    await on.dispatcher.answer({ approval: opened?.body.approval ?? "", outcome: "approve", by: ANN });
    await on.dispatcher.resume({ tools: on.tools, signal: new AbortController().signal }); // and did not live to tell
    const { messages, stop } = await resumeAiTools(on, responseMessages, new AbortController().signal);
    assert.equal(stop, undefined);
    assert.deepEqual(told(messages)["c1"], { type: "text", value: "write b: done" });
    assert.deepEqual(on.ran, ["write b+", "write b-"], "it ran once");
  });

  test("if no person can be asked and onAsk is fail, the loop ends", async () => {
    const on = await embed({ deps: { onAsk: "fail" } });
    const { steps } = await generateText({
      model: scripted("  - calls: [{ tool: write, id: c1, input: { name: b } }]\n"),
      tools: aiTools(on),
      stopWhen: STOP,
      prompt: "Go.",
    });
    assert.equal(findRunStop(steps)?.reason, "unanswered");
    assert.deepEqual(on.ran, []);
  });
});

describe("cancelling", () => {
  test("an abort reaches the body that runs and the calls that have not begun", async () => {
    const on = await embed({ deps: { approver: answering("approve") } });
    const abort = new AbortController();
    const calls = oneStep("{ tool: slow, id: c1, input: { name: a } }", "{ tool: write, id: c2, input: { name: b } }");
    const observe = (event: DispatchEvent): void => void (event.type === "toolCall" && abort.abort());
    const run = streamText({
      model: scripted(calls),
      tools: aiTools({ ...on, observe }),
      stopWhen: STOP,
      prompt: "Go.",
      abortSignal: abort.signal,
    });
    await run.consumeStream();
    await until(on, async () => (await on.events("call.ended")).length === 2);
    assert.deepEqual((await on.events("call.ended")).map(({ body }) => [body.call, body.outcome]).sort(), [
      ["c1", "cancelled"],
      ["c2", "cancelled"],
    ]);
    assert.deepEqual(on.ran, ["slow a+"]);
  });
});

describe("the set of tools", () => {
  test("it is what `ai` takes, beside tools of its own", async () => {
    const own = tool({ description: "Adds.", inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => a + 1 });
    const tools = { ...aiTools(await embed()), own } satisfies ToolSet;
    const { steps } = await generateText({
      model: scripted(oneStep("{ tool: own, id: c1, input: { a: 1 } }", "{ tool: read, id: c2, input: { name: a } }")),
      tools,
      stopWhen: STOP,
      prompt: "Go.",
    });
    assert.deepEqual(told(steps[0]?.response.messages ?? [])["c1"], { type: "json", value: 2 });
    assert.deepEqual(told(steps[0]?.response.messages ?? [])["c2"], { type: "text", value: "read a: done" });
  });

  test("the model is shown the schemas of the registry as they are", async () => {
    const on = await embed();
    const offered: unknown[] = [];
    const model = scripted("  - say: Hi.\n");
    const seen = {
      ...model,
      doGenerate: (options: Parameters<typeof model.doGenerate>[0]) => {
        offered.push(...(options.tools ?? []));
        return model.doGenerate(options);
      },
    };
    await generateText({ model: seen, tools: aiTools(on), prompt: "Go." });
    assert.deepEqual(
      offered,
      on.tools.visible().map(({ name, description, inputSchema }) => ({ type: "function", name, description, inputSchema })),
    );
    assert.equal(jsonSchema({ type: "object" })[Symbol.for("vercel.ai.schema") as never], true, "`ai` knows its schemas by this symbol");
  });

  test("hidden tools are not offered, but `resolve` is wherever it is registered", async () => {
    const input = z.object({});
    const hidden = (name: string) => defineTool({ name, description: "Hidden.", kind: "other", hidden: true, input, run: () => "x" });
    const on = await embed({ more: [hidden("resolve"), hidden("secret")] });
    assert.deepEqual(Object.keys(aiTools(on)), ["read", "write", "slow", "picture", "resolve"]);
  });
});
