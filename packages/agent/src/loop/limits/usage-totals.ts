import type { Usage } from "@assent/core";

/** Tokens of several requests. */
export type UsageTotals = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of `inputTokens`. */
  readonly cachedInputTokens: number;
  readonly totalTokens: number;
};

/** What a conversation used in this process. */
export type ConversationUsage = UsageTotals & {
  readonly models: Readonly<Record<string, UsageTotals>>;
  readonly apiMs: number;
  /** Requests with an answer, also a partial one. */
  readonly requests: number;
};

export type UsageCounter = {
  readonly add: (modelId: string, usage: Usage | null) => void;
  readonly addTime: (ms: number) => void;
  readonly totals: () => ConversationUsage;
};

const NONE: UsageTotals = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, totalTokens: 0 };

export function createUsageCounter(): UsageCounter {
  let all = NONE;
  let apiMs = 0;
  let requests = 0;
  const models = new Map<string, UsageTotals>();
  return {
    add: (modelId, usage) => {
      requests += 1;
      all = addUsage(all, usage);
      models.set(modelId, addUsage(models.get(modelId) ?? NONE, usage));
    },
    addTime: (ms) => {
      apiMs += Math.max(0, ms);
    },
    totals: () => ({ ...all, models: Object.fromEntries(models), apiMs, requests }),
  };
}

function addUsage(totals: UsageTotals, usage: Usage | null): UsageTotals {
  if (!usage) return totals;
  const { inputTokens, outputTokens, cachedInputTokens = 0 } = usage;
  return {
    inputTokens: totals.inputTokens + inputTokens,
    outputTokens: totals.outputTokens + outputTokens,
    cachedInputTokens: totals.cachedInputTokens + cachedInputTokens,
    totalTokens: totals.totalTokens + inputTokens + outputTokens,
  };
}
