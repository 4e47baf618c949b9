import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { APICallError, type LanguageModelV4 } from "@ai-sdk/provider";
import { manualClock } from "@assent/core/testing";
import { type ConversationEvent, resolveModel } from "../../../src/index.ts";
import { providerFailure } from "../../../src/loop/model/provider-failure.ts";
import { retryDelay } from "../../../src/loop/model/retry.ts";
import { streamAnswer } from "../../../src/loop/model/stream-answer.ts";
import { rehearse } from "../../rehearsal.ts";
import { type ModelServer, modelServer, type Reply } from "../../wire/model-server.ts";
import { brokenModel } from "./broken-model.ts";

const HTML: Reply = { status: 200, body: "<html>", headers: { "content-type": "text/html; charset=utf-8" } };

async function failureOf(model: LanguageModelV4): Promise<unknown> {
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }];
  return await streamAnswer(model, { prompt }, undefined).then(
    () => assert.fail("it answered"),
    (error: unknown) => error,
  );
}

describe("messages about a provider's failure", () => {
  let server: ModelServer;
  before(async () => {
    server = await modelServer();
  });
  after(() => server.close());

  const ROWS: readonly [sentence: string, reply: Reply, type: string, message: string, hint: string | undefined][] = [
    [
      "a refused key",
      { status: 401, body: { error: { message: "wrong key" } } },
      "provider_auth",
      "openai-compatible:m at BASE/v1/chat/completions answered 401: wrong key",
      "Check OPENAI_COMPATIBLE_API_KEY, which holds the key.",
    ],
    [
      "something that is not there, without a word of the provider",
      { status: 404, body: "" },
      "provider_error",
      "openai-compatible:m at BASE/v1/chat/completions answered 404 Not Found.",
      "Check the model's name, and OPENAI_COMPATIBLE_BASE_URL.",
    ],
    [
      "a failure of the server",
      { status: 500, body: "" },
      "provider_error",
      "openai-compatible:m at BASE/v1/chat/completions answered 500 Internal Server Error.",
      undefined,
    ],
    [
      "a page in place of a stream",
      HTML,
      "provider_error",
      "openai-compatible:m: The answer is text/html, which is no event stream.",
      "Check OPENAI_COMPATIBLE_BASE_URL.",
    ],
  ];
  for (const [sentence, reply, type, message, hint] of ROWS) {
    test(sentence, async () => {
      server.replies.push(reply);
      const environment = { OPENAI_COMPATIBLE_BASE_URL: `${server.origin}/v1` };
      const error = await failureOf(await resolveModel("openai-compatible:m", { environment }));
      const expected = { type, message: message.replace("BASE", server.origin), ...(hint !== undefined && { hint }) };
      assert.deepEqual(providerFailure(error, "openai-compatible:m"), expected);
    });
  }

  test("a page in place of a stream is not asked for again", async () => {
    server.replies.push(HTML);
    const error = await failureOf(await resolveModel("vllm:m", { environment: { VLLM_BASE_URL: server.origin } }));
    assert.equal(retryDelay({ error, failures: 1, now: 0 }), undefined);
  });

  test("an answer that streams under another name is an answer", async () => {
    const chunk = { id: "c", created: 1, model: "m", choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }] };
    const text = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
    const fetch: typeof globalThis.fetch = async () => new Response(text, { headers: { "content-type": "text/plain" } });
    const model = await resolveModel("vllm:m", { environment: {}, fetch });
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }];
    assert.equal((await streamAnswer(model, { prompt }, undefined)).text, "hi");
  });
});

describe("a provider that cannot be reached", () => {
  const refused = (url: string): APICallError =>
    new APICallError({
      message: "Cannot connect to API: connect ECONNREFUSED",
      url,
      requestBodyValues: {},
      cause: new Error("connect ECONNREFUSED"),
    });
  const ROWS: readonly [id: string, hint: string][] = [
    ["ollama:qwen3:8b", "Is ollama running? OLLAMA_BASE_URL says where."],
    ["openai-compatible:m", "Is the server running? OPENAI_COMPATIBLE_BASE_URL says where."],
    ["anthropic:m", "Check the network, and ANTHROPIC_BASE_URL where it is set."],
  ];
  for (const [id, hint] of ROWS) {
    test(`${id}: its address without a key, and what to check`, () => {
      assert.deepEqual(providerFailure(refused("http://me:hush@127.0.0.1:1/v1/chat?key=hush#hush"), id), {
        type: "provider_error",
        message: `${id} at http://127.0.0.1:1/v1/chat cannot be reached (connect ECONNREFUSED).`,
        hint,
      });
    });
  }
  test("a refusal by a model outside the provider table shows its status", () => {
    const error = new APICallError({ message: "bad.", url: "script:", requestBodyValues: {}, statusCode: 400 });
    assert.deepEqual(providerFailure(error, "script:x"), { type: "provider_error", message: "bad (status 400)" });
  });

  test("a failure of a model outside the provider table shows the error's own message", () =>
    assert.deepEqual(providerFailure(refused("http://h/"), "mine"), {
      type: "provider_error",
      message: "Cannot connect to API: connect ECONNREFUSED",
    }));
});

describe("what is kept of a failure", () => {
  test("a turn's end has its type and its words, without secrets and not longer than 500 characters", async () => {
    const redact = (text: string): string => text.replaceAll("hush", "[hidden]");
    const made = await rehearse(`turns: [{ error: { status: 401, message: "hush ${"x".repeat(600)}" } }]`, { talk: { redact } });
    await made.send("go");
    const ended = (await made.events("turn.ended"))[0] ?? assert.fail("the turn did not end");
    const { type, message } = ended.body.error ?? assert.fail("no error on record");
    assert.deepEqual([ended.body.reason, type, message.length, message.slice(0, 11)], ["error", "provider_auth", 500, "[hidden] xx"]);
  });

  for (const [how, fail] of [
    [
      "at once",
      (error: Error): never => {
        throw error;
      },
    ],
    ["later", (error: Error): Promise<never> => Promise.reject(error)],
  ] as const) {
    test(`a turn whose model cannot be had, told ${how}, records the reason; the next turn works as before`, async () => {
      const redact = (text: string): string => text.replaceAll("hush", "[hidden]");
      const said: LanguageModelV4 = brokenModel([]);
      let isGone = true;
      const model = (): LanguageModelV4 | Promise<never> => (isGone ? fail(new Error("no model, hush")) : said);
      const made = await rehearse("turns: []", { talk: { model, redact } });
      const end = await made.send("go");
      assert.deepEqual([end.reason, end.error?.message], ["failed", "no model, hush"]);
      isGone = false;
      assert.equal((await made.send("again")).reason, "done");
      assert.deepEqual(
        (await made.events("turn.ended")).map(({ body: { reason, error } }) => [reason, error?.message]),
        [
          ["error", "no model, [hidden]"],
          ["stop", undefined],
        ],
      );
      assert.equal((await made.events("turn.started")).length, 1);
    });
  }

  test("a turn that ended well has none", async () => {
    const made = await rehearse("turns: [{ say: a }]");
    await made.send("go");
    assert.deepEqual(
      (await made.events("turn.ended")).map(({ body }) => "error" in body),
      [false],
    );
  });

  test("a retry is reported in one sentence", async () => {
    const told: string[] = [];
    const clock = manualClock(0);
    const model = brokenModel([{ parts: [{ type: "error", error: { message: "It ended without a finish reason." } }], ends: "end" }]);
    const observe = (event: ConversationEvent): void => {
      if (event.type !== "warning") return;
      told.push(event.message);
      setImmediate(() => void clock.advance(1_000));
    };
    const made = await rehearse("turns: []", { clock, talk: { model: () => model, observe } });
    assert.equal((await made.send("go")).reason, "done");
    assert.deepEqual(told, ["It ended without a finish reason; trying again in 1000 ms"]);
  });
});
