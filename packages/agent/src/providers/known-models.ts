import type { Usage } from "@assent/core";

/** Facts about models, by provider and name. */
export type ModelTable<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

/** Looks up a model by `provider:name` or its bare name; a dated name (`…-20251001`) also without its date. */
function lookUp<T>(table: ModelTable<T>, model: string): T | undefined {
  const at = model.indexOf(":");
  const name = model.slice(at + 1);
  const bare = name.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, "");
  const rows = at < 0 ? Object.values(table) : [own(table, model.slice(0, at)) ?? {}];
  return rows.map((row) => own(row, name) ?? own(row, bare)).find((found) => found !== undefined);
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

export const CONTEXT_SIZES_AS_OF: string = "2026-11-16";

/**
 * Context sizes in tokens for the providers' own APIs, as published: Anthropic, platform.claude.com/docs, models overview; OpenAI,
 * developers.openai.com/api/docs/models; Google, ai.google.dev/gemini-api/docs/models. For other models, the provider's refusal tells.
 */
const SIZES: ModelTable<number> = {
  anthropic: {
    "claude-opus-5-5": 1_000_000,
    "claude-opus-5": 1_000_000,
    "claude-opus-4-8": 1_000_000,
    "claude-opus-4-7": 1_000_000,
    "claude-opus-4-6": 1_000_000,
    "claude-sonnet-5-5": 1_000_000,
    "claude-sonnet-5": 1_000_000,
    "claude-sonnet-4-6": 1_000_000,
    "claude-haiku-4-5": 200_000,
  },
  openai: {
    "gpt-5.5": 1_050_000,
    "gpt-5.4": 1_050_000,
    "gpt-5.4-mini": 400_000,
    "gpt-5.4-nano": 400_000,
  },
  google: {
    "gemini-3.1-pro-preview": 1_048_576,
    "gemini-2.5-pro": 1_048_576,
  },
};

/** The context size of a model, by `provider:name` or its bare name; undefined if it is not listed. */
export function getContextSize(model: string): number | undefined {
  return lookUp(SIZES, model);
}

/** The oldest of the days on which the prices below were read. */
export const PRICES_AS_OF: string = "2026-05-19";

/** USD per million tokens. */
type TokenRates = { readonly input: number; readonly cached: number; readonly output: number };

/** The rates of a model, and those of a request whose input is longer than `above`. */
type ModelPrice = TokenRates & { readonly long?: TokenRates & { readonly above: number } };

/**
 * List prices of the providers' own APIs, standard tier, as published and compared with models.dev: Anthropic,
 * platform.claude.com/docs/en/about-claude/pricing, read October 2026; OpenAI, developers.openai.com/api/docs/pricing, June 2026; Google,
 * ai.google.dev/gemini-api/docs/pricing, May 2026. Models on which the sources disagree are left out. Our requests ask Anthropic to cache
 * everything, so its `input` is the price of a cache write (five minutes).
 */
const PRICES: Readonly<Record<string, Readonly<Record<string, ModelPrice>>>> = {
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

/** The cost of one request in USD, by `provider:name` or bare name; undefined if the model is not listed. */
export function estimateCost(model: string, { inputTokens, outputTokens, cachedInputTokens = 0 }: Usage): number | undefined {
  const price = lookUp(PRICES, model);
  if (!price) return undefined;
  const rates = price.long && inputTokens > price.long.above ? price.long : price;
  const fresh = Math.max(0, inputTokens - cachedInputTokens);
  return (fresh * rates.input + cachedInputTokens * rates.cached + outputTokens * rates.output) / 1_000_000;
}
