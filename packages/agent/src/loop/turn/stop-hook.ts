import type { HookOpinion, Hooks, JsonObject } from "@assent/core";
import { hookEnvelope, STOP_HOOK_LIMIT } from "@assent/core/parts";

/** Whom a stop hook speaks for. */
export type StopHookDeps = {
  readonly hooks: Hooks | undefined;
  readonly event: "stop" | "subagent_stop";
  /** How often in a row the end may be held back in one run. */
  readonly limit?: number | undefined;
  /** What every hook of this session is told. */
  readonly input: () => JsonObject;
};

/** What came of an agent's wish to finish. */
export type StopAnswer = {
  /** What it is told so that it goes on; undefined: it may finish. */
  readonly goOn: string | undefined;
  /** What hooks have to say to it beside that. */
  readonly context: string | undefined;
  /** It would have been held back once more than may be. */
  readonly limitReached: boolean;
};

/** Hooks that may hold back an agent that wants to finish. */
export type StopHook = {
  /** Nothing that fails here holds anybody back: finishing is the safe side. */
  readonly consult: (lastMessage: string, signal: AbortSignal) => Promise<StopAnswer>;
  /** A new run: nothing was held back yet. */
  readonly reset: () => void;
};

const LET_GO: StopAnswer = { goOn: undefined, context: undefined, limitReached: false };

/** The stop hooks of one session, for an agent's as for a person's. */
export function createStopHook({ hooks, event, limit = STOP_HOOK_LIMIT, input }: StopHookDeps): StopHook {
  let held = 0;
  return {
    reset: () => {
      held = 0;
    },
    consult: async (lastMessage, signal) => {
      if (!hooks) return LET_GO;
      const told = { ...input(), stop_hook_active: held > 0, last_assistant_message: lastMessage };
      const said = await quietly(() => hooks.consult(event, told, signal));
      if (!said || signal.aborted) return LET_GO;
      if (said.verdict !== "deny" || said.stop !== undefined) return { ...LET_GO, context: contextOf(said) };
      if (held >= limit) return { ...LET_GO, limitReached: true };
      held += 1;
      return { ...LET_GO, goOn: hookEnvelope({ ...said, feedback: said.reason ?? `blocked by hook ${said.name}` }) };
    },
  };
}

async function quietly<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch {
    return undefined;
  }
}

function contextOf({ name, spokenBy, context }: HookOpinion): string | undefined {
  return hookEnvelope({ name, ...(spokenBy !== undefined && { spokenBy }), context });
}
