import type { Usage } from "@assent/core";

/** What is known of models, by provider and name. */
export type ModelTable<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

/**
 * What a table says of a model's id `provider:name`, or of its bare name; undefined: nothing.
 * A dated name (`…-20251001`, `…-2026-04-23`) is looked up without its date, too.
 */
export function lookUp<T>(table: ModelTable<T>, model: string): T | undefined {
  const at = model.indexOf(":");
  const name = model.slice(at + 1);
  const bare = name.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, "");
  const rows = at < 0 ? Object.values(table) : [own(table, model.slice(0, at)) ?? {}];
  return rows.map((row) => own(row, name) ?? own(row, bare)).find((found) => found !== undefined);
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** The day on which the sizes below were read. */
export const CONTEXT_SIZES_AS_OF: string = "2026-11-16";

/**
 * Tokens of a whole request and its answer, for direct use of the providers' own interfaces, as published: Anthropic, platform.claude.com/docs, models overview;
 * OpenAI, developers.openai.com/api/docs/models; Google, ai.google.dev/gemini-api/docs/models. A model that is not lookUp is asked until its provider refuses.
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

/** How many tokens a model takes, by its id `provider:name` or its bare name; undefined for one that is not lookUp. */
export function getContextSize(model: string): number | undefined {
  return lookUp(SIZES, model);
}

/** The oldest of the days on which the prices below were read. */
export const PRICES_AS_OF: string = "2026-05-19";

/** USD per million tokens. */
type TokenRates = { readonly input: number; readonly cached: number; readonly output: number };

/** The rates of a model, and those of a whole request whose input is longer than `above`. */
type ModelPrice = TokenRates & { readonly long?: TokenRates & { readonly above: number } };

/**
 * List prices for direct use of the providers' own interfaces, standard tier, as published and compared with the public catalogue models.dev:
 * Anthropic, platform.claude.com/docs/en/about-claude/pricing, read October 2026; OpenAI, developers.openai.com/api/docs/pricing, June 2026;
 * Google, ai.google.dev/gemini-api/docs/pricing, May 2026. A model on which the sources disagree is left out: no cost is better than a wrong one.
 * Anthropic bills what it writes to its cache above plain input, and our requests ask it to keep everything: its `input` is the price of a write (five minutes).
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

/** What one request cost in USD, by a model's id `provider:name` or its bare name; undefined for a model that is not lookUp. */
export function estimateCost(model: string, { inputTokens, outputTokens, cachedInputTokens = 0 }: Usage): number | undefined {
  const price = findPrice(model);
  if (!price) return undefined;
  const rates = price.long && inputTokens > price.long.above ? price.long : price;
  const fresh = Math.max(0, inputTokens - cachedInputTokens);
  return (fresh * rates.input + cachedInputTokens * rates.cached + outputTokens * rates.output) / 1_000_000;
}

/** Whether a model's cost can be told: a limit of cost needs it. */
export function hasPrice(model: string): boolean {
  return findPrice(model) !== undefined;
}

function findPrice(model: string): ModelPrice | undefined {
  return lookUp(PRICES, model);
}
