import type { HookOpinion, Hooks, JsonObject } from "@assent/core";
import { hookEnvelope, STOP_HOOK_LIMIT } from "@assent/core/parts";

export type StopHookDeps = {
  readonly hooks: Hooks | undefined;
  readonly event: "stop" | "subagent_stop";
  /** How often in a row hooks may keep one run going. */
  readonly limit?: number | undefined;
  readonly input: () => JsonObject;
};

/** The answer of stop hooks to a model that wants to finish. */
export type StopAnswer = {
  /** Told to the model, which must continue; undefined if it may finish. */
  readonly feedback: string | undefined;
  /** Told to the model in addition. */
  readonly context: string | undefined;
  /** Hooks objected once more than the limit allows. */
  readonly limitReached: boolean;
};

/** Hooks that may keep a model from finishing. */
export type StopHook = {
  /** If a hook fails, the model may finish. */
  readonly consult: (lastMessage: string, signal: AbortSignal) => Promise<StopAnswer>;
  readonly reset: () => void;
};

const MAY_FINISH: StopAnswer = { feedback: undefined, context: undefined, limitReached: false };

export function createStopHook({ hooks, event, limit = STOP_HOOK_LIMIT, input }: StopHookDeps): StopHook {
  let objections = 0;
  return {
    reset: () => {
      objections = 0;
    },
    consult: async (lastMessage, signal) => {
      if (!hooks) return MAY_FINISH;
      let opinion: HookOpinion | undefined;
      try {
        const fields = { ...input(), stop_hook_active: objections > 0, last_assistant_message: lastMessage };
        opinion = await hooks.consult(event, fields, signal);
      } catch {
        return MAY_FINISH;
      }
      if (!opinion || signal.aborted) return MAY_FINISH;
      if (opinion.verdict !== "deny" || opinion.stop !== undefined) {
        const { name, spokenBy, context } = opinion;
        return { ...MAY_FINISH, context: hookEnvelope({ name, spokenBy, context }) };
      }
      if (objections >= limit) return { ...MAY_FINISH, limitReached: true };
      objections += 1;
      return { ...MAY_FINISH, feedback: hookEnvelope({ ...opinion, feedback: opinion.reason ?? `blocked by hook ${opinion.name}` }) };
    },
  };
}
