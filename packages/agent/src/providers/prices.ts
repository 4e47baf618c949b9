import type { Usage } from "@assent/core";
import { listed } from "./listed-model.ts";

/** The oldest of the days on which the prices below were read. */
export const PRICES_AS_OF: string = "2026-05-19";

/** USD per million tokens. */
type Rates = { readonly input: number; readonly cached: number; readonly output: number };

/** The rates of a model, and those of a whole request whose input is longer than `above`. */
type Price = Rates & { readonly long?: Rates & { readonly above: number } };

/**
 * List prices for direct use of the providers' own interfaces, standard tier, as published and compared with the public catalogue models.dev:
 * Anthropic, platform.claude.com/docs/en/about-claude/pricing, read October 2026; OpenAI, developers.openai.com/api/docs/pricing, June 2026;
 * Google, ai.google.dev/gemini-api/docs/pricing, May 2026. A model on which the sources disagree is left out: no cost is better than a wrong one.
 * Anthropic bills what it writes to its cache above plain input, and our requests ask it to keep everything: its `input` is the price of a write (five minutes).
 */
const PRICES: Readonly<Record<string, Readonly<Record<string, Price>>>> = {
  anthropic: {
    "claude-opus-5-5": { input: 5, cached: 0.2, output: 20 },
    "claude-opus-5": { input: 6.25, cached: 0.5, output: 25 },
    "claude-opus-4-8": { input: 6.25, cached: 0.5, output: 25 },
    "claude-opus-4-7": { input: 6.25, cached: 0.5, output: 25 },
    "claude-opus-4-6": { input: 6.25, cached: 0.5, output: 25 },
    "claude-sonnet-5-5": { input: 2.5, cached: 0.1, output: 10 },
    "claude-sonnet-5": { input: 2.5, cached: 0.2, output: 10 },
    "claude-sonnet-4-6": { input: 3.75, cached: 0.3, output: 15 },
    "claude-haiku-4-5": { input: 1.25, cached: 0.1, output: 5 },
  },
  openai: {
    "gpt-5.5": { input: 5, cached: 0.5, output: 30, long: { above: 272_000, input: 10, cached: 1, output: 45 } },
    "gpt-5.4": { input: 2.5, cached: 0.25, output: 15, long: { above: 272_000, input: 5, cached: 0.5, output: 22.5 } },
    "gpt-5.4-mini": { input: 0.75, cached: 0.075, output: 4.5 },
    "gpt-5.4-nano": { input: 0.2, cached: 0.02, output: 1.25 },
  },
  google: {
    "gemini-3.1-pro-preview": { input: 2, cached: 0.2, output: 12, long: { above: 200_000, input: 4, cached: 0.4, output: 18 } },
    "gemini-2.5-pro": { input: 1.25, cached: 0.125, output: 10, long: { above: 200_000, input: 2.5, cached: 0.25, output: 15 } },
  },
};

/** What one request cost in USD, by a model's id `provider:name` or its bare name; undefined for a model that is not listed. */
export function costOf(model: string, { inputTokens, outputTokens, cachedInputTokens = 0 }: Usage): number | undefined {
  const price = priceOf(model);
  if (!price) return undefined;
  const rates = price.long && inputTokens > price.long.above ? price.long : price;
  const fresh = Math.max(0, inputTokens - cachedInputTokens);
  return (fresh * rates.input + cachedInputTokens * rates.cached + outputTokens * rates.output) / 1_000_000;
}

/** Whether a model's cost can be told: a limit of cost needs it. */
export function priceKnown(model: string): boolean {
  return priceOf(model) !== undefined;
}

function priceOf(model: string): Price | undefined {
  return listed(PRICES, model);
}
