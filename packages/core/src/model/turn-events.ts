import type { Json } from "./json/json.ts";
import type { Content } from "./result/result.ts";

/** One part of what a model said. */
export type AssistantPart =
  /** `provider`: what the provider wants to see again with it, as it came. */
  | { readonly type: "text"; readonly text: string; readonly provider?: Json }
  | { readonly type: "reasoning"; readonly text: string; readonly provider?: Json }
  | { readonly type: "call"; readonly call: string; readonly tool: string; readonly input: Json; readonly provider?: Json };

/** Tokens of one request, as the provider counted them. */
export type Usage = { readonly inputTokens: number; readonly outputTokens: number; readonly cachedInputTokens?: number };

/** The bodies of a conversation's events: the history a model is shown is read back from them. */
export type TurnEventBodies = {
  "turn.started": {
    readonly turn: number;
    readonly origin: "user" | "notice" | "schedule";
    readonly promptId: string;
    readonly model: string | null;
    readonly toolChoice: Json;
  };
  "message.user": {
    readonly turn: number;
    readonly content: Content;
    readonly origin: "user" | "notice" | "schedule" | "steering";
    readonly displayText?: string;
  };
  "message.assistant": {
    readonly turn: number;
    readonly content: readonly AssistantPart[];
    readonly stop: string;
    readonly usage: Usage | null;
    readonly model: string | null;
    readonly providerId: string | null;
  };
  "turn.ended": {
    readonly turn: number;
    readonly reason: string;
    /** Why the model could not be asked to its end. */
    readonly error?: { readonly type: string; readonly message: string };
  };
  /** The model receives this summary in place of everything up to `through`, except for what must not be lost. */
  "history.compacted": { readonly turn: number; readonly through: number; readonly summary: string; readonly usage: Usage | null };
  "notice.queued": {
    readonly notice: string;
    /** `task`, `schedule`, `proposal`, or `message`: something said to an agent by the one that started it. */
    readonly kind: string;
    readonly modelText: string;
    readonly displayText: string;
    readonly task?: string;
    readonly schedule?: string;
    readonly call?: string;
  };
  "notice.delivered": { readonly ids: readonly string[]; readonly turn: number };
  "notice.dropped": { readonly ids: readonly string[]; readonly why: string };
};
