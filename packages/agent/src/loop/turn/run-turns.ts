import { type ConversationState, endRun, type RunEnd } from "../conversation-state.ts";
import { turnLimit } from "../limits/run-limits.ts";
import { providerFailure } from "../model/provider-failure.ts";
import { isAgent, tellHooks } from "./hooks.ts";
import { runTurn } from "./run-turn.ts";

export async function runTurns(state: ConversationState, signal: AbortSignal): Promise<RunEnd> {
  const stop = stopSignal(state, signal);
  state.stopHook.reset();
  state.remark = undefined;
  for (let turns = 1; ; turns += 1) {
    const end = refuseTurn(state, turns, stop) ?? (await runTurn(state, stop));
    if (!end) continue;
    const explained = end.reason === "cancelled" ? explainStop(state, signal) : end;
    if (explained.error) tellHooks(state, "on_error", { error: explained.error.message, error_type: explained.error.type });
    return explained;
  }
}

/** Aborts when the caller, a script or a time limit stops the run. */
function stopSignal({ deps: { halt, limits } }: ConversationState, signal: AbortSignal): AbortSignal {
  const others = [halt, limits?.signal].filter((other) => other !== undefined);
  return others.length === 0 ? signal : AbortSignal.any([signal, ...others]);
}

/** Ends the run if the next turn must not start. */
function refuseTurn(state: ConversationState, turns: number, signal: AbortSignal): RunEnd | undefined {
  const { limits, maxTurns } = state.deps;
  if (signal.aborted) return endRun(state, "cancelled");
  if (maxTurns !== undefined && turns > maxTurns) return endRun(state, "turn_limit", turnLimit(maxTurns));
  const exceeded = limits?.exceeded();
  if (exceeded) return endRun(state, "budget", exceeded);
  const lastTurn = isAgent(state.deps) ? undefined : limits?.turn();
  return lastTurn && endRun(state, "turn_limit", lastTurn);
}

/** Why a run was stopped: 1. by a person 2. by a script 3. by a time limit. */
function explainStop(state: ConversationState, signal: AbortSignal): RunEnd {
  const { halt, limits } = state.deps;
  if (signal.aborted) return endRun(state, "cancelled");
  if (halt?.aborted) return endRun(state, "failed", providerFailure(halt.reason));
  const exceeded = limits?.signal.aborted ? limits.exceeded() : undefined;
  return exceeded ? endRun(state, "budget", exceeded) : endRun(state, "cancelled");
}
