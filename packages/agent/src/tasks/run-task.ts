import { type Clock, namedSession } from "@assent/core";
import type { RunEnd } from "../loop/conversation-state.ts";
import { changed, type TaskBoard, type TaskEntry, tell, viewOf, writeInOrder } from "./board.ts";
import { closeAgent } from "./close-agent.ts";
import { type AgentEnd, endTask } from "./end-task.ts";
import { asFork } from "./fork.ts";
import { MOST_TURNS, type OpenedAgent } from "./open-agent.ts";
import { isGoal } from "./progress.ts";

/** How the first step of a run is made. */
export type FirstStep = (opened: OpenedAgent, signal: AbortSignal) => Promise<RunEnd>;

/** Runs the body of an agent until it ends or waits, and sees to what becomes of it. Never rejects. */
export async function runTask(board: TaskBoard, entry: TaskEntry, first: FirstStep): Promise<AgentEnd | "parked"> {
  const { opened } = entry;
  if (!opened) throw new Error("the agent is not built");
  const { signal } = entry.controller;
  entry.finishing = false;
  entry.hasBody = true;
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
  entry.hasBody = false;
  if (entry.ended) {
    board.deps.warn?.(`what task ${entry.id} came to after its end was left out`);
    await closeAgent(board, opened, ["cancelled", 130]).catch(() => undefined);
    return end;
  }
  if (end === "parked" && entry.status === "running") await pause(board, entry, opened);
  else if (end === "parked")
    await endTask(board, entry, { status: "cancelled", result: entry.progress.text(), error: null, partial: true });
  else await endTask(board, entry, { ...end, ...(end.status === "cancelled" && { by: String(signal.reason ?? "") }) });
  return end;
}

/** True: whatever was said to the agent is heard. From then on nothing more can be. */
async function mayEnd(entry: TaskEntry): Promise<boolean> {
  for (let written: unknown; written !== entry.writing; ) {
    written = entry.writing;
    await written;
  }
  const waits = (entry.opened?.session.state.notices.size ?? 0) > 0;
  entry.finishing = !waits;
  return !waits;
}

/** It waits for a person: it neither runs nor counts, and goes on when somebody has answered, in this process or a later one. */
async function pause(board: TaskBoard, entry: TaskEntry, opened: OpenedAgent): Promise<void> {
  const { session } = board.deps;
  let heard = false;
  const take = (): void => {
    if (!heard || entry.status !== "paused") return;
    entry.watching?.close();
    void goOn(board, entry, "answer");
  };
  entry.watching = opened.session.watch((event) => {
    heard ||= namedSession(event) === opened.session.id;
    take();
  });
  const paused = session.draft("task.paused", { task: entry.id, reason: "approval", blocked: "approval" });
  const written = await writeInOrder(entry, () => session.record([paused], "full")).catch((error: unknown) => fail(board, error));
  if (!written || entry.status !== "running") return; // it ended meanwhile, or somebody ends it
  entry.status = "paused";
  entry.blocked = "approval";
  tell(board, { type: "task_paused", task: viewOf(board, entry), reason: "approval" });
  changed(board);
  take();
}

function fail(board: TaskBoard, error: unknown): false {
  board.failure ??= { error };
  changed(board);
  return false;
}

/** Lets a paused agent go on from its record. Resolves when it runs. */
export async function goOn(board: TaskBoard, entry: TaskEntry, by: string): Promise<void> {
  const { session } = board.deps;
  const resumed = session.draft("task.resumed", { task: entry.id, by });
  entry.status = "running";
  entry.blocked = null;
  const written = await writeInOrder(entry, () => session.record([resumed], "normal")).catch((error: unknown) => fail(board, error));
  if (written) void runTask(board, entry, (opened, signal) => opened.takeUp(entry.prompt, signal));
}

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
