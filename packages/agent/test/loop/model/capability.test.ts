import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { APICallError } from "@ai-sdk/provider";
import { createCapabilities } from "../../../src/index.ts";
import { refusesToolChoice } from "../../../src/loop/model/capability.ts";
import { providerFailure } from "../../../src/loop/model/provider-failure.ts";

describe("what a model can be made to do", () => {
  const rows: readonly [provider: string, modelId: string, capability: string][] = [
    ["openai.responses", "gpt-5.5", "named"],
    ["anthropic.messages", "claude-opus-5", "named"],
    ["anthropic.messages", "claude-fable-5", "named"],
    ["anthropic.messages", "claude-haiku-5-5", "named"],
    ["anthropic.messages", "claude-opus-5-5", "auto"],
    ["anthropic.messages", "claude-sonnet-5-5-20260901", "auto"],
    ["openrouter.chat", "anthropic/claude-opus-5.5", "auto"],
    ["google.generative-ai", "gemini-3.1-pro-preview", "named"],
    ["ollama.chat", "qwen3:8b", "auto"],
    ["lmstudio.chat", "google/gemma-4-12b", "required"],
    ["vllm.chat", "Qwen/Qwen3-8B", "named"],
    ["openrouter.chat", "deepseek/deepseek-v4-flash", "auto"],
    ["openaiCompatible.chat", "deepseek-reasoner", "auto"],
    ["openrouter.chat", "deepseek/deepseek-v3", "named"],
    ["openrouter.chat", "moonshotai/kimi-k2.6", "auto"],
    ["openaiCompatible.chat", "kimi-k2-thinking-turbo", "auto"],
    ["openaiCompatible.chat", "kimi-k2-0905-preview", "named"],
    ["openaiCompatible.chat", "kimi-k3", "required"],
  ];
  for (const [provider, modelId, capability] of rows)
    test(`${modelId} of ${provider}: ${capability}`, () => assert.equal(createCapabilities().of({ provider, modelId }), capability));
});

const refusal = (statusCode: number, text: string): APICallError =>
  new APICallError({ message: "Bad Request", url: "https://x", requestBodyValues: {}, statusCode, responseBody: text });

describe("a refusal of a choice", () => {
  const rows: readonly [status: number, text: string, refuses: boolean][] = [
    [400, "Invalid tool_choice type: 'object'. Supported string values: none, auto, required", true],
    [400, "Thinking mode does not support this tool_choice", true],
    [400, "tool_choice 'specified' is incompatible with thinking enabled", true],
    [400, "Thinking may not be enabled when tool_choice forces tool use.", true],
    [400, "The tool_choice parameter does not support being set to required or object in thinking mode", true],
    [400, "Forced function calling (mode = ANY) is not supported", true],
    [400, "Invalid value at 'tool_config.function_calling_config.mode'", true],
    [404, "No endpoints found that support the provided 'tool_choice' value.", true],
    [422, "toolChoice: Input should be 'auto'", true],
    [400, "prompt is too long: 210000 tokens > 200000 maximum", false],
    [500, "tool_choice", false],
    [429, "tool_choice", false],
  ];
  for (const [status, text, refuses] of rows)
    test(`${status} ${text}: ${refuses}`, () => assert.equal(refusesToolChoice(refusal(status, text)), refuses));
});

describe("why a run ended", () => {
  test("a key that does not open is not just any failure", () => {
    assert.equal(providerFailure(refusal(401, "")).type, "provider_auth");
    assert.equal(providerFailure(refusal(403, "")).type, "provider_auth");
    assert.equal(providerFailure(refusal(500, "")).type, "provider_error");
    assert.deepEqual(providerFailure("odd"), { type: "provider_error", message: "odd" });
  });
});
