import { type BatchReport, isObject } from "@assent/core";
import { queueParkedNotice } from "../../notices/deliver.ts";
import type { ConversationState } from "../conversation-state.ts";
import { pauseWhileWaiting } from "../limits/run-limits.ts";
import type { ModelAnswer } from "../model/stream-answer.ts";
import { isSteered, type SteeredCall, type TurnSteering } from "../steering/steering.ts";

/** Runs the calls of an answer. The run's time limit pauses while a call waits for a person. */
export async function dispatchCalls(
  state: ConversationState,
  turn: { readonly turn: number; readonly steering: TurnSteering; readonly answer: ModelAnswer; readonly signal: AbortSignal },
): Promise<BatchReport> {
  const { dispatcher, session, limits, observe, agent, tools } = state.deps;
  const { answer, signal, steering } = turn;
  const newPrompt = state.firstBatch;
  if (answer.calls.length > 0) state.firstBatch = false;
  const { choice, proposal } = steering;
  const stopPausing = limits && pauseWhileWaiting(limits, session);
  try {
    return await dispatcher.process(
      {
        ...{ calls: answer.calls, tools: tools(), signal, truncated: answer.truncated, newPrompt },
        ...(typeof choice === "object" && { directive: choice.tool, ...(proposal !== undefined && { proposal }) }),
        ...(agent && { agentName: agent.type }),
      },
      observe && ((event) => state.emit({ type: "dispatch", turn: turn.turn, event })),
    );
  } finally {
    stopPausing?.();
  }
}

/** Reports the turn to steering. A proposal that it parks waits for a person, and the model gets a reminder about it. */
export async function settleSteering(
  state: ConversationState,
  { steering, answer, report }: { readonly steering: TurnSteering; readonly answer: ModelAnswer; readonly report: BatchReport },
): Promise<void> {
  if (!isSteered(steering)) return;
  for (const row of await state.steering.endTurn(steering, steeredCalls(answer, report))) await queueParkedNotice(state, row);
}

function steeredCalls({ calls }: ModelAnswer, { results }: BatchReport): readonly SteeredCall[] {
  return results.map((report, at) => {
    const details = report.outcome === "waiting" ? undefined : report.result.details;
    const proposalId = isObject(details) && typeof details["proposalId"] === "string" ? details["proposalId"] : undefined;
    const tool = calls[at]?.name ?? "";
    return { tool, outcome: report.outcome, proposalId: tool === "resolve" ? proposalId : undefined };
  });
}
