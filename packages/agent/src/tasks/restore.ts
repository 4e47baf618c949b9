import { type EventBodies, type Ledger, type LedgerEvent, parseEvent, type TaskProcess, type TaskRow } from "@assent/core";
import { enter, type TaskBoard, type TaskEntry, tell, viewOf, writeInOrder } from "./board.ts";
import { endSurvivors, restoreCommand, restoredProgress } from "./commands.ts";
import { endLeft, endOrphans, type LeftSession, warnLeft } from "./end-left.ts";
import { blockedReason, isDefined, leftBehind } from "./left-behind.ts";
import { makeProgress, type Progress, recordedProgress } from "./progress.ts";
import { resumeTask } from "./resume.ts";
import { discard } from "./stop-task.ts";

/** How what an earlier process left is taken up. */
export type Restoring = {
  /** False: what waited for an answer that is there does not go on by itself either. */
  readonly goesOn?: boolean;
};

/** Enters what an earlier process left: what ran is paused, what somebody ended is ended, and what waited for an answer that is there goes on. */
export async function restoreTasks(board: TaskBoard, { goesOn = true }: Restoring = {}): Promise<void> {
  await enterEnded(board);
  for (const row of [...board.deps.session.state.tasks.values()]) if (!board.entries.has(row.task)) await restore(board, row, goesOn);
  await endOrphans(board);
}

/** There are other definitions now: what was blocked for the want of its own is looked at again. */
export async function reconsiderTasks(board: TaskBoard): Promise<void> {
  for (const row of [...board.deps.session.state.tasks.values()]) {
    const entry = board.entries.get(row.task);
    const isBlocked = entry?.status === "paused" && entry.blocked === "agent_changed" && !entry.opened;
    if (isBlocked && isDefined(board.deps, row)) await restore(board, row, true);
  }
}

async function restore(board: TaskBoard, row: TaskRow, goesOn: boolean): Promise<void> {
  if (row.command) return await restoreCommand(board, row);
  const { ledger } = board.deps.session;
  const entry = enterRow(board, row, await recordedProgress(ledger, row.session));
  if (row.state === "cancelling") {
    entry.status = "cancelling";
    await discard(board, entry, "an earlier wish");
    return;
  }
  entry.status = "paused";
  const left = await leftBehind(board.deps.session, row);
  if (left.running.size > 0) await endRunning(board, row);
  const blocked = await blockedReason(board, row, left);
  const reason = row.paused?.reason ?? "restart"; // what it waits for stays true, whatever keeps it from going on
  const waits = reason === "approval" && blocked === null;
  entry.blocked = waits ? "approval" : blocked;
  if (row.state === "running" || (row.paused?.blocked ?? null) !== entry.blocked) await recordPaused(board, entry, reason);
  tell(board, { type: "task_paused", task: viewOf(board, entry), reason });
  if (goesOn && waits && (await isAnswered(ledger, row.session))) await resumeTask(board, entry, "answer");
}

/** What ran in it when its process ended is put in order; it does not go on. */
async function endRunning(board: TaskBoard, { task, session, call, description, model }: TaskRow): Promise<void> {
  const left: LeftSession = { session, task, call: call ?? "", description, model, background: true, closed: ["parked", 75] };
  await endLeft(board, left).catch((error: unknown) => warnLeft(board, left, error));
}

async function recordPaused({ deps }: TaskBoard, entry: TaskEntry, reason: EventBodies["task.paused"]["reason"]): Promise<void> {
  const body = { task: entry.id, reason, blocked: entry.blocked } as const;
  await writeInOrder(entry, () => deps.session.record([deps.session.draft("task.paused", body)], "full"));
}

function enterRow(board: TaskBoard, row: TaskRow, progress: Progress): TaskEntry {
  const { task: id, agent, description, call: callId, session, model, mode, prompt, startedAt, command } = row;
  const definition = board.deps.definitions().find(({ name }) => name === agent);
  return enter(board, {
    ...{ id, agent, description, callId, session, model, mode, prompt, startedAt, progress, command },
    opened: undefined,
    foreground: false,
    maxTurns: definition?.maxTurns,
    maxTimeMs: definition?.maxTimeMs,
    insideFork: agent === "fork",
  });
}

/** Nothing that a person was asked is open any more. */
async function isAnswered(ledger: Ledger, session: string): Promise<boolean> {
  const [approval] = await ledger.pending("approvals", { session, limit: 1 });
  const [question] = await ledger.pending("questions", { session, limit: 1 });
  return approval === undefined && question === undefined;
}

type Begun = EventBodies["task.started"] & { readonly at: string };

/** The ids of all tasks there were, and the newest of those that have ended. What these left running when their process was ended is ended now. */
async function enterEnded(board: TaskBoard): Promise<void> {
  const { session } = board.deps;
  const started = new Map<string, Begun>();
  const survivors = followSurvivors();
  const types = ["task.started", "task.process", "task.ended", "session.closed"];
  for await (const stored of session.ledger.read({ session: session.id, seq: 0 }, { session: session.id, types })) {
    const event = parseEvent(stored);
    if (!event) continue;
    survivors.follow(event);
    if (event.type === "task.started") {
      started.set(event.body.task, { ...event.body, at: event.at });
      board.ids.add(event.body.task);
    }
    if (event.type === "task.ended") enterEnd(board, event, started.get(event.body.task));
  }
  await endSurvivors(board, survivors.left());
}

function enterEnd(board: TaskBoard, { at, body: { usage, status } }: LedgerEvent<"task.ended">, begun: Begun | undefined): void {
  if (!begun || board.entries.has(begun.task)) return;
  const progress: Progress = { ...(begun.command ? restoredProgress() : makeProgress()), usage: () => usage };
  const entry = enterRow(board, { ...begun, state: "running", startedAt: begun.at, paused: null }, progress);
  entry.status = status;
  entry.ended = true;
  entry.endedAt = at;
  entry.over.resolve();
}

/** The processes of commands that had ended in a process which closed nothing: whoever closes a session ends what they left. */
function followSurvivors(): { readonly follow: (event: LedgerEvent) => void; readonly left: () => readonly TaskProcess[] } {
  const running = new Map<string, TaskProcess[]>();
  const left: TaskProcess[] = [];
  return {
    left: () => left,
    follow: ({ type, body }) => {
      if (type === "session.closed") left.length = 0;
      if (type === "task.process") running.set(body.task, [...(running.get(body.task) ?? []), body]);
      if (type === "task.ended") left.push(...(running.get(body.task) ?? []));
    },
  };
}
