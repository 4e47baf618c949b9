import { listed, type ModelTable } from "./listed-model.ts";

/** The day on which the sizes below were read. */
export const CONTEXT_SIZES_AS_OF: string = "2026-11-16";

/**
 * Tokens of a whole request and its answer, for direct use of the providers' own interfaces, as published: Anthropic, platform.claude.com/docs, models overview;
 * OpenAI, developers.openai.com/api/docs/models; Google, ai.google.dev/gemini-api/docs/models. A model that is not listed is asked until its provider refuses.
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

/** How many tokens a model takes, by its id `provider:name` or its bare name; undefined for one that is not listed. */
export function contextSizeOf(model: string): number | undefined {
  return listed(SIZES, model);
}
