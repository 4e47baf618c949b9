import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { APICallError, type LanguageModelV4, type LanguageModelV4Message } from "@ai-sdk/provider";
import type { Content } from "@assent/core";
import type { Choice } from "@assent/core/parts";
import { manualClock } from "@assent/core/testing";
import { resolveModel } from "../../src/index.ts";
import { assistantMessage, toolMessage, userMessage } from "../../src/loop/history/messages.ts";
import { createCapabilities, refusesToolChoice } from "../../src/loop/model/capability.ts";
import { buildRequest } from "../../src/loop/model/request.ts";
import { withRetries } from "../../src/loop/model/retry.ts";
import { BrokenAnswer, type ModelAnswer, streamAnswer } from "../../src/loop/model/stream-answer.ts";
import type { StreamDelta, StreamEvent } from "../../src/loop/model/stream-events.ts";
import type { Capability } from "../../src/script/script.ts";
import { echo } from "../rehearsal.ts";
import { DIALECTS, type Dialect, KEY, type Said, USAGE } from "./dialects.ts";
import { frame, type ModelServer, modelServer, type Received, type Tree } from "./model-server.ts";

let server: ModelServer;
let send: typeof globalThis.fetch;

const other = { ...echo, name: "other" };
const TWO = [
  { id: "call_1", name: "echo", input: '{"text":"one"}' },
  { id: "call_2", name: "other", input: '{"text":"two"}' },
];
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const model = ({ id, environment }: Dialect, named = id): Promise<LanguageModelV4> =>
  resolveModel(named, { environment: environment(server.origin), fetch: send });

type Asked = { readonly choice?: Choice; readonly capability?: Capability; readonly signal?: AbortSignal };

/** A conversation without a runtime: what is said to a model and by it, as the loop puts it together. */
function talk(to: LanguageModelV4) {
  const history: LanguageModelV4Message[] = [];
  const heard: StreamDelta[] = [];
  const told: StreamEvent[] = [];
  const ask = async ({ choice, capability = "named", signal = new AbortController().signal }: Asked = {}): Promise<ModelAnswer> => {
    const request = buildRequest({ messages: history, system: "You are tested.", tools: [echo, other], choice, capability, signal });
    const answer = await streamAnswer(to, request, (event) => {
      told.push(event);
      if (event.type === "delta" && event.delta.type !== "input") heard.push(event.delta);
    });
    history.push(
      assistantMessage(
        answer.parts,
        answer.calls.map(({ id }) => id),
      ),
    );
    return answer;
  };
  return {
    history,
    heard,
    told,
    ask,
    say: (content: Content) => history.push(userMessage(content, "user")),
    result: (...results: readonly (readonly [callId: string, content: Content, outcome?: string])[]) =>
      history.push(
        toolMessage(results.map(([callId, content, outcome = "succeeded"]) => ({ callId, tool: "echo", outcome, type: null, content }))),
      ),
  };
}

function last(): Received {
  const found = server.received.at(-1);
  assert.ok(found, "nothing was asked");
  return found;
}

const named = Object.entries(DIALECTS);
const HELLO: Said = { text: ["Hel", "lo."] };

/** The frames of an answer up to its first words. */
function begun(dialect: Dialect): readonly string[] {
  const frames = dialect.frames(HELLO);
  return frames.slice(0, frames.findIndex((text) => text.includes('"Hel"')) + 1);
}

const reply = (dialect: Dialect, said: Said): void => void server.replies.push({ frames: dialect.frames(said) });

/** What started and did not stop. */
function unclosed(told: readonly StreamEvent[]): readonly string[] {
  const open = new Set<string>();
  for (const event of told) {
    if (event.type === "message_start") open.add("message");
    if (event.type === "block_start") open.add(`block ${event.index}`);
    if (event.type === "delta" && !open.has(`block ${event.index}`)) open.add("a delta of no block");
    if (event.type === "block_stop") open.delete(`block ${event.index}`);
    if (event.type === "message_stop") open.delete("message");
  }
  return [...open];
}

/** The arguments of calls, put together from what was heard of them. */
function inputs(told: readonly StreamEvent[]): Readonly<Record<string, unknown>> {
  const texts = new Map<string, string>();
  const ids = new Map<number, string>();
  for (const event of told) {
    if (event.type === "block_start" && event.block.type === "call") ids.set(event.index, event.block.id);
    if (event.type !== "delta" || event.delta.type !== "input") continue;
    const id = ids.get(event.index) ?? "";
    texts.set(id, `${texts.get(id) ?? ""}${event.delta.delta}`);
  }
  return Object.fromEntries([...texts].map(([id, text]) => [id, JSON.parse(text)]));
}

type Again = { readonly delayMs: number; readonly error: unknown };

/** Asks with retries on a clock that passes each wait at once. */
async function retried(
  ask: (asked: Asked) => Promise<ModelAnswer>,
  stop: AbortController = new AbortController(),
): Promise<{ answer: ModelAnswer; waits: readonly number[]; again: readonly Again[] }> {
  const clock = manualClock();
  const again: Again[] = [];
  const { signal } = stop;
  const answer = await withRetries(() => ask({ signal }), {
    clock,
    signal,
    retrying: (retrying) => {
      again.push(retrying);
      setImmediate(() => void clock.advance(retrying.delayMs));
    },
  });
  return { answer, waits: again.map(({ delayMs }) => delayMs), again };
}

const request = (tools: readonly (typeof echo)[]) =>
  buildRequest({
    messages: [userMessage("go", "user")],
    system: "You are tested.",
    tools,
    choice: undefined,
    capability: "named",
    signal: new AbortController().signal,
  });

/** What a provider's server and its package say to each other, by one way of sending requests. */
export function testWire(fetch: typeof globalThis.fetch): void {
  before(async () => {
    send = fetch;
    server = await modelServer();
  });
  after(() => server.close());
  beforeEach(() => {
    server.received.length = 0;
    server.replies.length = 0;
  });

  for (const [name, dialect] of named) {
    describe(`${name}, on the wire`, () => {
      test("text is streamed as it arrives, and counted", async () => {
        reply(dialect, { text: ["Hel", "lo."] });
        const { ask, say, heard } = talk(await model(dialect));
        say("Say hello.");
        const answer = await ask();
        assert.deepEqual(heard, [
          { type: "text", delta: "Hel" },
          { type: "text", delta: "lo." },
        ]);
        assert.equal(answer.text, "Hello.");
        assert.deepEqual(answer.calls, []);
        assert.equal(answer.stop, "stop");
        assert.equal(answer.truncated, false);
        assert.deepEqual(answer.usage, USAGE);
        assert.equal(answer.providerId, "answer-1");
        assert.match(last().url, dialect.url);
        assert.equal(dialect.authorised(last().headers), true);
        assert.ok(last().text.includes("You are tested.") && last().text.includes("Say hello."));
      });

      test("calls that are made together arrive whole and in order, after the text before them", async () => {
        reply(dialect, { text: ["I look."], calls: TWO });
        const { ask, say, told } = talk(await model(dialect));
        say("go");
        const answer = await ask();
        assert.deepEqual(
          answer.calls.map(({ id, name: tool, arguments: given }) => [id, tool, JSON.parse(given)]),
          [
            ["call_1", "echo", { text: "one" }],
            ["call_2", "other", { text: "two" }],
          ],
        );
        assert.deepEqual(
          answer.parts.map(({ type }) => type),
          ["text", "call", "call"],
        );
        assert.equal(answer.stop, "tool-calls");
        assert.deepEqual(unclosed(told), []);
        assert.deepEqual(inputs(told), { call_1: { text: "one" }, call_2: { text: "two" } });
      });

      test("what was cut at the limit says so", async () => {
        reply(dialect, { text: ["Once upon"], cut: true });
        const { ask, say } = talk(await model(dialect));
        say("go");
        const { truncated, text, stop } = await ask();
        assert.deepEqual({ truncated, text, stop }, { truncated: true, text: "Once upon", stop: "length" });
      });

      test("a refusal to be forced is known as one, and is not tried again as it is", async () => {
        server.replies.push(dialect.refusal);
        const { ask, say } = talk(await model(dialect));
        say("go");
        const clock = manualClock();
        await assert.rejects(
          withRetries(() => ask({ choice: { tool: "echo" } }), { clock, signal: new AbortController().signal }),
          refusesToolChoice,
        );
        assert.equal(server.received.length, 1);
      });

      test("a rate limit is waited for as long as the provider asks", async () => {
        const tooMany = { error: { message: "Slow down", type: "rate_limit_error", code: 429, status: "RESOURCE_EXHAUSTED" } };
        server.replies.push({ status: 429, headers: { "retry-after": "7" }, body: { type: "error", ...tooMany } });
        reply(dialect, { text: ["Done."] });
        const { ask, say } = talk(await model(dialect));
        say("go");
        const { waits, answer } = await retried(ask);
        assert.deepEqual(waits, [7_000]);
        assert.equal(answer.text, "Done.");
        assert.equal(server.received[0]?.text, server.received[1]?.text);
      });

      test("an overload is tried again, a little later each time", async () => {
        server.replies.push(dialect.overload, dialect.overload);
        reply(dialect, { text: ["Done."] });
        const { ask, say } = talk(await model(dialect));
        say("go");
        const { waits, answer } = await retried(ask);
        assert.deepEqual(waits, [1_000, 2_000]);
        assert.equal(answer.text, "Done.");
      });

      test("a request that is wrong is not tried again", async () => {
        const wrong = {
          type: "error",
          error: { message: "prompt is too long", type: "invalid_request_error", code: 400, status: "INVALID_ARGUMENT" },
        };
        server.replies.push({ status: 400, body: wrong });
        const { ask, say } = talk(await model(dialect));
        say("go");
        await assert.rejects(retried(ask), (error) => APICallError.isInstance(error) && error.message === "prompt is too long");
        assert.equal(server.received.length, 1);
      });

      test("a connection lost in the middle of a text is tried again", async () => {
        server.replies.push({ frames: begun(dialect), end: "cut" });
        reply(dialect, { text: ["Hello."] });
        const { ask, say } = talk(await model(dialect));
        say("go");
        const { answer, again } = await retried(ask);
        assert.equal(answer.text, "Hello.");
        assert.deepEqual(
          again.map(({ error }) => error instanceof BrokenAnswer && [error.calls, error.message]),
          [[0, "The connection to the model was lost (terminated)."]],
        );
      });

      test("a stream that ends too early is not an answer", async () => {
        server.replies.push({ frames: begun(dialect) });
        const { ask, say } = talk(await model(dialect));
        say("go");
        await assert.rejects(ask(), BrokenAnswer);
      });

      test("a chunk that is not JSON breaks the answer, which is retried", async () => {
        server.replies.push({ frames: [...begun(dialect), frame('{"oops'), ...dialect.frames(HELLO).slice(begun(dialect).length)] });
        reply(dialect, { text: ["Hello."] });
        const { ask, say } = talk(await model(dialect));
        say("go");
        const { answer, waits } = await retried(ask);
        assert.equal(answer.text, "Hello.");
        assert.equal(waits.length, 1);
      });

      test("an abort ends a stream that hangs, and nothing is tried again", async () => {
        server.replies.push({ frames: begun(dialect), end: "hang" });
        const stop = new AbortController();
        const { ask, say, heard, told } = talk(await model(dialect));
        say("go");
        heard.push = (...delta) => {
          stop.abort();
          return delta.length;
        };
        await assert.rejects(retried(ask, stop), (error) => {
          assert.ok(error instanceof BrokenAnswer && error.partial, String(error));
          assert.deepEqual([error.partial.text, error.partial.stop, error.partial.calls], ["Hel", "aborted", []]);
          return true;
        });
        assert.equal(server.received.length, 1);
        assert.deepEqual(unclosed(told), []);
        assert.deepEqual(told.at(-1), { type: "message_stop", stop: "aborted" });
      });

      test("each request begins with the bytes of the one before it", async () => {
        const { ask, say, result } = talk(await model(dialect));
        say("go");
        reply(dialect, { reasoning: "Let me see.", text: ["I look."], calls: TWO });
        await ask();
        result(
          [
            "call_1",
            [
              { type: "text", text: "an image" },
              { type: "image", mediaType: "image/png", data: PNG },
            ],
          ],
          ["call_2", "no", "failed"],
        );
        say("A reminder.");
        reply(dialect, { reasoning: "And again.", calls: [{ id: "call_3", name: "echo", input: '{ "text": "three" }' }] });
        await ask({ choice: { tool: "echo" } });
        result(["call_3", "three"]);
        reply(dialect, { text: ["Done."] });
        await ask();
        say("More.");
        reply(dialect, { text: ["No."] });
        await ask();
        assert.equal(server.received.length, 4);
        for (const [at, { text, body }] of server.received.slice(0, -1).entries()) {
          const newest = JSON.stringify(dialect.messages(body).at(-1));
          const end = text.lastIndexOf(newest) + newest.length;
          assert.ok(end > newest.length, "the newest message is somewhere in the body");
          assert.equal(server.received[at + 1]?.text.slice(0, end), text.slice(0, end), `request ${at + 2}`);
        }
      });
    });
  }

  describe("an answer whose end names a failure is requested again", () => {
    const rows: readonly [dialect: keyof typeof DIALECTS, whole: string, failed: string][] = [
      ["chat completions", '"finish_reason":"stop"', '"finish_reason":"error"'],
      ["chat completions", '"finish_reason":"stop"', '"finish_reason":"network_error"'],
      ["chat completions", '"finish_reason":"stop"', '"finish_reason":"insufficient_system_resource"'],
      ["gemini", '"finishReason":"STOP"', '"finishReason":"MALFORMED_FUNCTION_CALL"'],
      ["gemini", '"finishReason":"STOP"', '"finishReason":"UNEXPECTED_TOOL_CALL"'],
    ];
    for (const [name, whole, failed] of rows) {
      test(`${name}: ${failed}`, async () => {
        const dialect = DIALECTS[name];
        server.replies.push({ frames: dialect.frames({ text: ["Half of"] }).map((frame) => frame.replace(whole, failed)) });
        reply(dialect, { text: ["Done."] });
        const { ask, say } = talk(await model(dialect));
        say("go");
        assert.equal((await retried(ask)).answer.text, "Done.");
        assert.equal(server.received.length, 2);
      });
    }
  });

  describe("a connection lost after a call", () => {
    // Chat completions say that a call is whole only with the end of the answer.
    const rows: readonly [dialect: keyof typeof DIALECTS, newest: string, requests: number][] = [
      ["chat completions", '"finish_reason":"tool_calls"', 2],
      ["responses", "response.completed", 1],
      ["messages", "message_delta", 1],
      ["gemini", '"finishReason"', 1],
    ];
    for (const [name, until, requests] of rows) {
      test(`${name}: is ${requests === 1 ? "final, for the call was whole" : "tried again, for the call was not yet whole"}`, async () => {
        const dialect = DIALECTS[name];
        const frames = dialect.frames({ text: ["I look."], calls: TWO });
        const end = frames.findIndex((text) => text.includes(until));
        assert.ok(end > 0);
        server.replies.push({ frames: frames.slice(0, end), end: "cut" });
        reply(dialect, { text: ["Done."] });
        const { ask, say } = talk(await model(dialect));
        say("go");
        if (requests === 1) await assert.rejects(retried(ask), (error) => error instanceof BrokenAnswer && error.calls > 0);
        else assert.equal((await retried(ask)).answer.text, "Done.");
        assert.equal(server.received.length, requests);
      });
    }
  });

  describe("a stream that ends in the middle of a call's arguments", () => {
    for (const name of ["chat completions", "responses", "messages"] as const)
      for (const end of ["whole", "cut"] as const)
        test(`${name}, ${end === "cut" ? "by a lost connection" : "as if it were complete"}: is tried again`, async () => {
          const dialect = DIALECTS[name];
          const frames = dialect.frames({ text: ["I look."], calls: TWO.slice(0, 1) });
          const half = frames.findIndex((text) => text.includes('{\\"text\\"') || text.includes('{\\"text'));
          assert.ok(half > 0 && half < frames.length - 1);
          server.replies.push({ frames: frames.slice(0, half + 1), end });
          reply(dialect, { text: ["Done."] });
          const { ask, say } = talk(await model(dialect));
          say("go");
          const { answer, again } = await retried(ask);
          assert.equal(answer.text, "Done.");
          const [{ error } = { error: undefined }] = again;
          assert.ok(error instanceof BrokenAnswer);
          assert.deepEqual([error.calls, error.partial?.calls], [0, []]);
        });
  });

  describe("a forced choice, as it goes out", () => {
    const auto = { choice: { tool: "echo" }, capability: "auto" } as const;
    const only = { choice: { tool: "echo" }, capability: "required" } as const;
    const rows: readonly [dialect: keyof typeof DIALECTS, asked: Asked, key: string, sent: unknown, tools: number][] = [
      ["chat completions", {}, "tool_choice", undefined, 2],
      ["chat completions", { choice: { tool: "echo" } }, "tool_choice", { type: "function", function: { name: "echo" } }, 2],
      ["chat completions", only, "tool_choice", "required", 1],
      ["chat completions", auto, "tool_choice", undefined, 2],
      ["chat completions", { choice: "none" }, "tool_choice", "none", 2],
      ["responses", {}, "tool_choice", undefined, 2],
      ["responses", { choice: { tool: "echo" } }, "tool_choice", { type: "function", name: "echo" }, 2],
      ["responses", only, "tool_choice", "required", 1],
      ["responses", auto, "tool_choice", undefined, 2],
      ["responses", { choice: "none" }, "tool_choice", "none", 2],
      ["messages", {}, "tool_choice", undefined, 2],
      ["messages", { choice: { tool: "echo" } }, "tool_choice", { type: "tool", name: "echo" }, 2],
      ["messages", only, "tool_choice", { type: "any" }, 1],
      ["messages", auto, "tool_choice", undefined, 2],
      ["messages", { choice: "none" }, "tool_choice", { type: "none" }, 2],
      ["gemini", {}, "toolConfig", undefined, 2],
      ["gemini", { choice: { tool: "echo" } }, "toolConfig", { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["echo"] } }, 2],
      ["gemini", only, "toolConfig", { functionCallingConfig: { mode: "ANY" } }, 1],
      ["gemini", auto, "toolConfig", undefined, 2],
      ["gemini", { choice: "none" }, "toolConfig", { functionCallingConfig: { mode: "NONE" } }, 2],
    ];
    for (const [name, asked, key, sent, tools] of rows) {
      test(`${name}: ${JSON.stringify(asked)} is ${JSON.stringify(sent) ?? "not said"}`, async () => {
        const dialect = DIALECTS[name];
        reply(dialect, { text: ["a"] });
        const { ask, say } = talk(await model(dialect));
        say("go");
        await ask(asked);
        const { body } = last();
        assert.deepEqual(body[key], sent);
        const offered = (name === "gemini" ? body["tools"]?.["0"]?.["functionDeclarations"] : body["tools"]) as unknown as readonly Tree[];
        assert.equal(offered.length, tools);
      });
    }

    test("a model whose provider would quietly let go of the choice is not asked for it", async () => {
      const dialect = DIALECTS.messages;
      for (const id of ["anthropic:claude-opus-5-5", "anthropic:claude-sonnet-5-5-20260901", "anthropic:claude-fable-5-1"]) {
        const to = await model(dialect, id);
        assert.equal(createCapabilities().of(to), "auto", id);
        reply(dialect, { text: ["a"] });
        const { stream } = await to.doStream({ ...request([echo, other]), toolChoice: { type: "tool", toolName: "echo" } });
        for await (const part of stream) if (part.type === "stream-start") assert.ok(part.warnings.length > 0, id);
        assert.deepEqual(last().body["tool_choice"], { type: "auto" }, id);
      }
    });
  });

  describe("what a provider wants to see again", () => {
    const rows: readonly [dialect: keyof typeof DIALECTS, expected: readonly object[]][] = [
      [
        "chat completions",
        [
          {
            role: "assistant",
            content: "I look.",
            reasoning_content: "Let me see.",
            tool_calls: [
              { id: "call_1", type: "function", function: { name: "echo", arguments: '{"text":"one"}' } },
              { id: "call_2", type: "function", function: { name: "other", arguments: '{"text":"two"}' } },
            ],
          },
        ],
      ],
      [
        "responses",
        [
          { type: "reasoning", id: "rs_1", encrypted_content: "sealed", summary: [{ type: "summary_text", text: "Let me see." }] },
          { role: "assistant", content: "I look." },
          { type: "function_call", call_id: "call_1", name: "echo", arguments: '{"text":"one"}' },
          { type: "function_call", call_id: "call_2", name: "other", arguments: '{"text":"two"}' },
        ],
      ],
      [
        "messages",
        [
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "Let me see.", signature: "signed" },
              { type: "redacted_thinking", data: "blackened" },
              { type: "text", text: "I look." },
              { type: "tool_use", id: "call_1", name: "echo", input: { text: "one" } },
              { type: "tool_use", id: "call_2", name: "other", input: { text: "two" } },
            ],
          },
        ],
      ],
      [
        "gemini",
        [
          {
            role: "model",
            parts: [
              { text: "Let me see.", thought: true },
              { text: "I look." },
              { functionCall: { id: "call_1", name: "echo", args: { text: "one" } }, thoughtSignature: "signed" },
              { functionCall: { id: "call_2", name: "other", args: { text: "two" } } },
            ],
          },
        ],
      ],
    ];
    for (const [name, expected] of rows) {
      test(`${name}: reasoning and its signatures go back as they came, also from the record`, async () => {
        const dialect = DIALECTS[name];
        const { ask, say, result, history } = talk(await model(dialect));
        say("go");
        reply(dialect, { reasoning: "Let me see.", text: ["I ", "look."], calls: TWO });
        const { parts } = await ask();
        const recorded = JSON.parse(JSON.stringify(parts)) as typeof parts;
        assert.deepEqual(recorded, parts);
        history[history.length - 1] = assistantMessage(recorded, ["call_1", "call_2"]);
        result(["call_1", "1"], ["call_2", "2"]);
        reply(dialect, { text: ["Done."] });
        await ask();
        const messages = dialect.messages(last().body);
        const from = messages.findIndex((message) => JSON.stringify(message).includes("Let me see."));
        assert.deepEqual(messages.slice(from, from + expected.length), expected);
      });
    }

    test("nothing of a conversation is kept by OpenAI, and its reasoning travels sealed", async () => {
      reply(DIALECTS.responses, { text: ["a"] });
      const { ask, say } = talk(await model(DIALECTS.responses));
      say("go");
      await ask();
      assert.equal(last().body["store"], false);
      assert.deepEqual(last().body["include"], ["reasoning.encrypted_content"]);
    });

    test("a server of chat completions is asked to count", async () => {
      reply(DIALECTS["chat completions"], { text: ["a"] });
      const { ask, say } = talk(await model(DIALECTS["chat completions"]));
      say("go");
      await ask();
      assert.deepEqual(last().body["stream_options"], { include_usage: true });
    });

    test("Anthropic is asked to cache", async () => {
      reply(DIALECTS.messages, { text: ["a"] });
      const { ask, say } = talk(await model(DIALECTS.messages));
      say("go");
      await ask();
      assert.deepEqual(last().body["cache_control"], { type: "ephemeral" });
    });
  });

  describe("results, as they go out", () => {
    const IMAGE: Content = [
      { type: "text", text: "first" },
      { type: "json", value: { second: 2 } },
      { type: "image", mediaType: "image/png", data: PNG },
    ];
    const rows: readonly [
      sentence: string,
      dialect: keyof typeof DIALECTS,
      content: Content,
      outcome: string,
      newest: readonly object[],
    ][] = [
      [
        "an image is shown after the results",
        "chat completions",
        IMAGE,
        "succeeded",
        [
          { role: "tool", tool_call_id: "call_1", content: 'first\n{"second":2}' },
          { role: "user", content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }] },
        ],
      ],
      [
        "a failure is its text",
        "chat completions",
        "no such file",
        "failed",
        [{ role: "tool", tool_call_id: "call_1", content: "no such file" }],
      ],
      [
        "an image is part of the result",
        "responses",
        IMAGE,
        "succeeded",
        [
          {
            type: "function_call_output",
            call_id: "call_1",
            output: [
              { type: "input_text", text: 'first\n{"second":2}' },
              { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
            ],
          },
        ],
      ],
      [
        "a failure is named one",
        "responses",
        "no such file",
        "failed",
        [{ type: "function_call_output", call_id: "call_1", output: '{"error":"no such file"}' }],
      ],
      [
        "an image is part of the result",
        "messages",
        IMAGE,
        "succeeded",
        [
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: "call_1",
                content: [
                  { type: "text", text: 'first\n{"second":2}' },
                  { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
                ],
              },
            ],
          },
        ],
      ],
      [
        "a failure is flagged",
        "messages",
        [{ type: "text", text: "no such file" }],
        "failed",
        [{ role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "no such file", is_error: true }] }],
      ],
      [
        "a file that no provider takes is told of",
        "messages",
        [{ type: "file", mediaType: "application/zip", data: "UEsDBA==", name: "a.zip" }],
        "succeeded",
        [
          {
            role: "user",
            content: [{ type: "tool_result", tool_use_id: "call_1", content: "[a.zip: application/zip, 4 bytes, cannot be shown]" }],
          },
        ],
      ],
      [
        "an image is part of the result",
        "gemini",
        IMAGE,
        "succeeded",
        [
          {
            role: "user",
            parts: [
              {
                functionResponse: {
                  id: "call_1",
                  name: "echo",
                  response: { name: "echo", content: 'first\n{"second":2}' },
                  parts: [{ inlineData: { mimeType: "image/png", data: PNG } }],
                },
              },
            ],
          },
        ],
      ],
      [
        "a failure is named one",
        "gemini",
        "no such file",
        "failed",
        [
          {
            role: "user",
            parts: [{ functionResponse: { id: "call_1", name: "echo", response: { name: "echo", error: "no such file" } } }],
          },
        ],
      ],
    ];
    for (const [sentence, name, content, outcome, newest] of rows) {
      test(`${name}: ${sentence}`, async () => {
        const dialect = DIALECTS[name];
        const { ask, say, result } = talk(await model(dialect));
        say("go");
        reply(dialect, { calls: TWO.slice(0, 1) });
        await ask();
        result(["call_1", content, outcome]);
        reply(dialect, { text: ["Done."] });
        await ask();
        assert.deepEqual(dialect.messages(last().body).slice(-newest.length), newest);
      });
    }

    test("gemini: an older model gets one response per call, whatever the result contains", async () => {
      const dialect = DIALECTS.gemini;
      const { ask, say, result } = talk(await model(dialect, "google:gemini-2.5-flash"));
      say("go");
      reply(dialect, { calls: TWO });
      await ask();
      result(["call_1", [{ type: "image", mediaType: "image/png", data: PNG }]], ["call_2", IMAGE]);
      reply(dialect, { text: ["Done."] });
      await ask();
      const parts = dialect.messages(last().body).at(-1)?.["parts"] as unknown as readonly object[];
      assert.equal(parts.filter((part) => "functionResponse" in part).length, 2);
    });

    test("arguments that are no object go back as one, or a provider would refuse the history", async () => {
      for (const dialect of Object.values(DIALECTS)) {
        const { ask, say, history, result } = talk(await model(dialect));
        say("go");
        history.push(assistantMessage([{ type: "call", call: "call_1", tool: "echo", input: '["a"' }], ["call_1"]));
        result(["call_1", "not JSON", "invalid"]);
        history.push(assistantMessage([{ type: "call", call: "call_2", tool: "echo", input: "[1]" }], ["call_2"]));
        result(["call_2", "not an object", "invalid"]);
        reply(dialect, { text: ["Done."] });
        await ask();
        const sent = last().text.replaceAll("\\", "");
        assert.ok(sent.includes('{"input":"["a""}') && sent.includes('{"input":"[1]"}'), sent);
      }
    });
  });

  describe("failures that only look like answers", () => {
    test("Anthropic's overload inside a stream that said nothing is an overload", async () => {
      const dialect = DIALECTS.messages;
      server.replies.push({ frames: [frame(dialect.overload.body, "error")] });
      reply(dialect, { text: ["Done."] });
      const { ask, say } = talk(await model(dialect));
      say("go");
      const { answer, waits } = await retried(ask);
      assert.deepEqual([answer.text, waits], ["Done.", [1_000]]);
    });

    const inside: readonly [sentence: string, dialect: keyof typeof DIALECTS, error: string, requests: number, message: string][] = [
      ["an overload", "messages", frame(DIALECTS.messages.overload.body, "error"), 5, "Overloaded"],
      ["a gateway's failure", "chat completions", frame({ error: { message: "Upstream died", code: 502 } }), 5, "Upstream died"],
      [
        "a request that is wrong after all",
        "chat completions",
        frame({ error: { message: "Too long", type: "invalid_request_error", code: "context_length_exceeded" } }),
        1,
        "Too long",
      ],
      [
        "a spent quota",
        "responses",
        frame({ type: "error", code: "insufficient_quota", message: "No money", param: null, sequence_number: 9 }, "error"),
        1,
        "No money",
      ],
      ["an overload", "gemini", frame(DIALECTS.gemini.overload.body), 5, "The model is overloaded."],
    ];
    for (const [sentence, name, error, requests, message] of inside) {
      test(`${name}: ${sentence} after the text began is asked about ${requests === 1 ? "once" : "again"}`, async () => {
        const dialect = DIALECTS[name];
        for (let times = 0; times < requests; times += 1) server.replies.push({ frames: [...begun(dialect), error] });
        const { ask, say } = talk(await model(dialect));
        say("go");
        const clock = manualClock();
        const signal = new AbortController().signal;
        const retrying = ({ delayMs }: Again): void => void setImmediate(() => void clock.advance(delayMs));
        await assert.rejects(
          withRetries(() => ask(), { clock, signal, retrying }),
          (thrown) => thrown instanceof BrokenAnswer && thrown.message === message,
        );
        assert.equal(server.received.length, requests);
      });
    }

    test("a spent quota is not waited for", async () => {
      server.replies.push({
        status: 429,
        body: { error: { message: "No money", type: "insufficient_quota", code: "insufficient_quota" } },
      });
      const { ask, say } = talk(await model(DIALECTS.responses));
      say("go");
      await assert.rejects(retried(ask), /No money/);
      assert.equal(server.received.length, 1);
    });

    test("a server that is not there is tried again", async () => {
      const gone = await modelServer();
      await gone.close();
      const to = await resolveModel("vllm:m", { environment: { VLLM_BASE_URL: gone.origin }, fetch });
      const { ask, say } = talk(to);
      say("go");
      const clock = manualClock();
      let times = 0;
      const retrying = ({ delayMs }: Again): void => {
        times += 1;
        setImmediate(() => void clock.advance(delayMs));
      };
      await assert.rejects(
        withRetries(() => ask(), { clock, signal: new AbortController().signal, retrying }),
        APICallError.isInstance,
      );
      assert.equal(times, 2);
    });

    test("no key of ours is in what is said of a failure", async () => {
      for (const dialect of Object.values(DIALECTS)) {
        server.replies.push({ status: 401, body: { error: { message: "bad key", type: "authentication_error" } } });
        const { ask, say } = talk(await model(dialect));
        say("go");
        await assert.rejects(ask(), (error) => error instanceof Error && !error.message.includes(KEY));
      }
    });
  });
}
