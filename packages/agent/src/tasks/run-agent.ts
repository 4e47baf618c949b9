import type { Clock, TaskStatus } from "@assent/core";
import type { RunEnd } from "../loop/conversation.ts";
import { MOST_TURNS, type OpenedAgent } from "./open-agent.ts";
import { isGoal } from "./progress.ts";

/** How an agent's run ended, as its notice tells it. */
export type AgentEnd = {
  readonly status: TaskStatus;
  readonly result: string;
  /** Without "Error:". */
  readonly error: string | null;
  readonly partial: boolean;
  readonly remark?: string;
};

/** A run to make. */
export type AgentRun = {
  readonly agent: OpenedAgent;
  readonly clock: Clock;
  readonly maxTurns?: number | undefined;
  readonly maxTimeMs?: number | undefined;
  readonly signal: AbortSignal;
  /** The first step: a prompt, or going on from the record. */
  readonly first: (signal: AbortSignal) => Promise<RunEnd>;
  /** True: nothing was said to the agent that it has not heard, and from now on nothing can be. */
  readonly mayEnd: () => Promise<boolean>;
};

/** Lets an agent work until it is done, cannot go on, or waits for a person. Foreground and background, first run and resumed, are this function. */
export async function runAgent({
  agent,
  clock,
  maxTurns = MOST_TURNS,
  maxTimeMs,
  signal,
  first,
  mayEnd,
}: AgentRun): Promise<AgentEnd | "parked"> {
  const time = new AbortController();
  const stopTimer = maxTimeMs === undefined ? undefined : clock.timer(maxTimeMs, () => time.abort(), { keepsAlive: true });
  const limited = AbortSignal.any([signal, time.signal]);
  try {
    let end = await first(limited);
    while (end.reason === "done" && !(await mayEnd())) end = await agent.goOn(limited);
    if (end.reason === "parked") return "parked";
    return endOf(end, { agent, maxTurns, maxTimeMs: time.signal.aborted ? maxTimeMs : undefined });
  } catch (error) {
    return failed(agent, error instanceof Error ? error.message : String(error));
  } finally {
    stopTimer?.();
  }
}

type Ended = { readonly agent: OpenedAgent; readonly maxTurns: number; readonly maxTimeMs: number | undefined };

/** Only a goal is success; a real finish counts although somebody cancelled, where it came before the agent saw that. */
function endOf(end: RunEnd, { agent, maxTurns, maxTimeMs }: Ended): AgentEnd {
  const answer = agent.progress.answer();
  const isDone = end.reason === "done" || end.reason === "cancelled";
  if (isDone && isGoal(answer)) {
    const result = end.text === "" ? agent.progress.text() : end.text;
    return { status: "completed", result, error: null, partial: false, ...(end.remark !== undefined && { remark: end.remark }) };
  }
  if (end.reason === "done") return failed(agent, "ended without an answer");
  if (maxTimeMs !== undefined) return failed(agent, `time limit (${maxTimeMs} ms) reached`);
  if (end.reason === "cancelled") return { status: "cancelled", result: agent.progress.text(), error: null, partial: true };
  if (end.reason === "turn_limit") return failed(agent, `turn limit (${maxTurns}) reached`);
  return failed(agent, reasonOf(end));
}

function reasonOf({ reason, error }: RunEnd): string {
  if (error?.type === "answer_cut") return "output truncated";
  if (error?.type === "loop_detected") return "stopped, repeating the same calls";
  if (error?.type.startsWith("limit_")) return "budget reached";
  return error?.message ?? reason;
}

function failed({ progress }: OpenedAgent, error: string): AgentEnd {
  return { status: "failed", result: progress.text(), error, partial: true };
}
