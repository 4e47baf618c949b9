import type { Json } from "./json/json.ts";
import type { Content } from "./result/result.ts";

/** One part of a model's message. */
export type AssistantPart =
  /** `provider`: data to send back unchanged. */
  | { readonly type: "text"; readonly text: string; readonly provider?: Json }
  | { readonly type: "reasoning"; readonly text: string; readonly provider?: Json }
  | { readonly type: "call"; readonly call: string; readonly tool: string; readonly input: Json; readonly provider?: Json };

/** Token counts of one request. */
export type Usage = { readonly inputTokens: number; readonly outputTokens: number; readonly cachedInputTokens?: number };

/** The bodies of conversation events, from which the history is rebuilt. */
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
    readonly error?: { readonly type: string; readonly message: string };
  };
  /** The summary replaces everything up to `through`. */
  "history.compacted": { readonly turn: number; readonly through: number; readonly summary: string; readonly usage: Usage | null };
  "notice.queued": {
    readonly notice: string;
    /** `task`, `schedule`, `proposal`, or `message` from the parent agent. */
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
