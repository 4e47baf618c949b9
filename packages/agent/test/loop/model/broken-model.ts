import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";

/** How an answer ends after what it says: it fails, or hangs until somebody gives up on it. */
export type BreaksOff = { readonly parts: readonly LanguageModelV4StreamPart[]; readonly ends: "fail" | "hang" | "end" };

/** A model whose answers are these, in order, part by part. `asked` has every request. */
export function brokenModel(answers: readonly BreaksOff[]): LanguageModelV4 & { readonly asked: LanguageModelV4CallOptions[] } {
  const asked: LanguageModelV4CallOptions[] = [];
  return {
    specificationVersion: "v4",
    provider: "broken",
    modelId: "broken",
    supportedUrls: {},
    asked,
    doGenerate: () => Promise.reject(new Error("it only streams")),
    doStream: async (options) => {
      asked.push({ ...options, prompt: [...options.prompt] });
      const answer = answers[asked.length - 1] ?? { parts: [...said("Done."), finish("stop")], ends: "end" };
      return { stream: streamOf(answer, options.abortSignal) };
    },
  };
}

function streamOf({ parts, ends }: BreaksOff, signal: AbortSignal | undefined): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      if (ends === "end") controller.close();
      if (ends === "fail") controller.enqueue({ type: "error", error: new Error("the wire broke") });
      if (ends === "hang") signal?.addEventListener("abort", () => controller.error(signal.reason), { once: true });
    },
  });
}

/** A text that came whole. */
export function said(text: string): LanguageModelV4StreamPart[] {
  return [...begun(text), { type: "text-end", id: "t" }];
}

/** A text that has not ended. */
export function begun(text: string): LanguageModelV4StreamPart[] {
  return [
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: text },
  ];
}

/** Reasoning that nobody signed yet. */
export function thought(text: string): LanguageModelV4StreamPart[] {
  return [
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: text },
  ];
}

/** A call that came whole, or only the beginning of its arguments. */
export function call(id: string, { whole }: { readonly whole: boolean }): LanguageModelV4StreamPart[] {
  const input = '{"text":"x"}';
  const begins: LanguageModelV4StreamPart[] = [
    { type: "tool-input-start", id, toolName: "echo" },
    { type: "tool-input-delta", id, delta: whole ? input : '{"te' },
  ];
  return whole ? [...begins, { type: "tool-input-end", id }, { type: "tool-call", toolCallId: id, toolName: "echo", input }] : begins;
}

/** The end of an answer. */
export function finish(reason: "stop" | "tool-calls"): LanguageModelV4StreamPart {
  return {
    type: "finish",
    finishReason: { unified: reason, raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 1, text: undefined, reasoning: undefined },
    },
  };
}
