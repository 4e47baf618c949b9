import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { estimateCost, PRICES_AS_OF } from "../../src/index.ts";

describe("what a request cost", () => {
  const million = { inputTokens: 1_000_000, outputTokens: 1_000_000 };
  const rows: readonly [sentence: string, model: string, usage: Parameters<typeof estimateCost>[1], cost: number | undefined][] = [
    ["input and output at their rates", "openai:gpt-5.4-mini", million, 5.25],
    ["a bare name, as answers are recorded", "gpt-5.4-mini", million, 5.25],
    ["a dated name has the price of its model", "anthropic:claude-haiku-4-5-20251001", million, 6.25],
    ["another form of date", "openai:gpt-5.4-mini-2026-03-17", million, 5.25],
    [
      "what came from the cache is cheaper",
      "openai:gpt-5.4-mini",
      { inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: 1_000_000 },
      0.075,
    ],
    ["a long request has its own rates", "google:gemini-2.5-pro", { inputTokens: 400_000, outputTokens: 100_000 }, 2.5],
    ["a request at the limit is not long", "google:gemini-2.5-pro", { inputTokens: 200_000, outputTokens: 0 }, 0.25],
    [
      "more from the cache than there was is no credit",
      "gpt-5.4-mini",
      { inputTokens: 0, outputTokens: 0, cachedInputTokens: 1_000_000 },
      0.075,
    ],
    ["another maker's price is not ours to know", "openrouter:openai/gpt-5.5", million, undefined],
    ["the same name at a server of one's own", "vllm:gpt-5.5", million, undefined],
    ["a model nobody listed", "openai:gpt-1", million, undefined],
    ["a name that only begins like one", "openai:gpt-5.5-pro", million, undefined],
    ["a word every object has", "constructor", million, undefined],
  ];
  for (const [sentence, model, usage, cost] of rows) {
    test(sentence, () => {
      const found = estimateCost(model, usage);
      if (cost === undefined || found === undefined) assert.equal(found, cost);
      else assert.ok(Math.abs(found - cost) < 1e-9, `${found}`);
    });
  }

  test("the table has its day", () => assert.match(PRICES_AS_OF, /^\d{4}-\d{2}-\d{2}$/));
});
