import { naming } from "@assent/core";
import type { RunEnd } from "../loop/conversation.ts";
import { changed, type TaskBoard, type TaskEntry, tell, viewOf, writeInOrder } from "./board.ts";
import { closeAgent } from "./close-agent.ts";
import { endTask } from "./end-task.ts";
import { asFork } from "./fork.ts";
import type { OpenedAgent } from "./open-agent.ts";
import { type AgentEnd, runAgent } from "./run-agent.ts";

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
    heard ||= naming(event) === opened.session.id;
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
