import { type Clock, messageOf, namedSession } from "@assent/core";
import type { RunEnd } from "../loop/conversation-state.ts";
import { emitTaskEvent, notifyWaiting, type TaskBoard, type TaskEntry, viewTask, writeInOrder } from "./board.ts";
import { closeAgent } from "./close-agent.ts";
import { type AgentEnd, endTask } from "./end-task.ts";
import { asFork } from "./fork.ts";
import { DEFAULT_MAX_TURNS, type OpenedAgent } from "./open-agent.ts";
import { isCompleteAnswer } from "./progress.ts";

/** The first step of a run: a prompt, or resuming from the record. */
export type FirstStep = (opened: OpenedAgent, signal: AbortSignal) => Promise<RunEnd>;

/** Runs an agent until it ends or waits, and records that. Never rejects. */
export async function runTask(board: TaskBoard, entry: TaskEntry, first: FirstStep): Promise<AgentEnd | "parked"> {
  const { opened } = entry;
  if (!opened) throw new Error("the agent is not built");
  const { signal } = entry.controller;
  entry.finishing = false;
  entry.isRunning = true;
  const end = await asFork(entry.insideFork, () =>
    runAgent({
      agent: opened,
      clock: board.deps.clock,
      maxTurns: entry.maxTurns,
      maxTimeMs: entry.maxTimeMs,
      signal,
      first: (limited) => first(opened, limited),
      mayEnd: () => mayEnd(entry),
    }),
  );
  entry.isRunning = false;
  if (entry.ended) {
    board.deps.warn?.(`task ${entry.id} had ended already; its later result was ignored`);
    await closeAgent(board, opened, ["cancelled", 130]).catch(() => undefined);
    return end;
  }
  if (end === "parked" && entry.status === "running") await pause(board, entry, opened);
  else if (end === "parked")
    await endTask(board, entry, { status: "cancelled", result: entry.progress.text(), error: null, partial: true });
  else await endTask(board, entry, { ...end, ...(end.status === "cancelled" && { by: String(signal.reason ?? "") }) });
  return end;
}

/** True if every message was delivered. From then on no message is accepted. */
async function mayEnd(entry: TaskEntry): Promise<boolean> {
  for (let written: unknown; written !== entry.writing; ) {
    written = entry.writing;
    await written;
  }
  const waits = (entry.opened?.session.state.notices.size ?? 0) > 0;
  entry.finishing = !waits;
  return !waits;
}

/** Pauses an agent that waits for a person. It resumes when the answer comes, in this process or a later one. */
async function pause(board: TaskBoard, entry: TaskEntry, opened: OpenedAgent): Promise<void> {
  const { session } = board.deps;
  let heard = false;
  const take = (): void => {
    if (!heard || entry.status !== "paused") return;
    entry.watching?.close();
    void continueTask(board, entry, "answer");
  };
  entry.watching = opened.session.watch((event) => {
    heard ||= namedSession(event) === opened.session.id;
    take();
  });
  const paused = session.draft("task.paused", { task: entry.id, reason: "approval", blocked: "approval" });
  const written = await writeInOrder(entry, () => session.record([paused], "full")).catch((error: unknown) => recordFailure(board, error));
  if (!written || entry.status !== "running") return; // it ended or is being cancelled
  entry.status = "paused";
  entry.blocked = "approval";
  emitTaskEvent(board, { type: "task_paused", task: viewTask(board, entry), reason: "approval" });
  notifyWaiting(board);
  take();
}

function recordFailure(board: TaskBoard, error: unknown): false {
  board.failure ??= { error };
  notifyWaiting(board);
  return false;
}

export async function continueTask(board: TaskBoard, entry: TaskEntry, by: string): Promise<void> {
  const { session } = board.deps;
  const resumed = session.draft("task.resumed", { task: entry.id, by });
  entry.status = "running";
  entry.blocked = null;
  const written = await writeInOrder(entry, () => session.record([resumed], "normal")).catch((error: unknown) =>
    recordFailure(board, error),
  );
  if (written) void runTask(board, entry, (opened, signal) => opened.resumeFromRecord(entry.prompt, signal));
}

export type AgentRun = {
  readonly agent: OpenedAgent;
  readonly clock: Clock;
  readonly maxTurns?: number | undefined;
  readonly maxTimeMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly first: (signal: AbortSignal) => Promise<RunEnd>;
  /** True if every message was delivered. From then on no message is accepted. */
  readonly mayEnd: () => Promise<boolean>;
};

/** Runs an agent until it is done, fails, or waits for a person. */
async function runAgent({
  agent,
  clock,
  maxTurns = DEFAULT_MAX_TURNS,
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
    while (end.reason === "done" && !(await mayEnd())) end = await agent.continueTurns(limited);
    if (end.reason === "parked") return "parked";
    return endOf(end, agent, maxTurns, time.signal.aborted ? maxTimeMs : undefined);
  } catch (error) {
    return failed(agent, messageOf(error));
  } finally {
    stopTimer?.();
  }
}

/** Only a complete last answer is a success, even if a cancel came too late to stop it. */
function endOf(end: RunEnd, agent: OpenedAgent, maxTurns: number, maxTimeMs: number | undefined): AgentEnd {
  const answer = agent.progress.answer();
  const isDone = end.reason === "done" || end.reason === "cancelled";
  if (isDone && isCompleteAnswer(answer)) {
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
