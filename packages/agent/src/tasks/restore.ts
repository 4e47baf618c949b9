import { type EventBodies, type Ledger, type LedgerEvent, parseEvent, type TaskProcess, type TaskRow } from "@assent/core";
import { addTask, emitTaskEvent, type TaskBoard, type TaskEntry, viewTask, writeInOrder } from "./board.ts";
import { endSurvivors, restoreCommand, restoredProgress } from "./commands.ts";
import { endLeftSession, endOrphans, type LeftSession, warnAboutLeftSession } from "./end-left.ts";
import { blockedReason, isDefined, readTaskRecord } from "./left-behind.ts";
import { type AgentProgress, createProgress, readProgress } from "./progress.ts";
import { resumeTask } from "./resume.ts";
import { discardTask } from "./stop-task.ts";

export type RestoreOptions = {
  /** False: tasks whose question was answered are not resumed automatically. */
  readonly resumeAnswered?: boolean;
};

/** Restores the tasks of an earlier process: pauses running ones, ends cancelled ones, resumes those that were answered. */
export async function restoreTasks(board: TaskBoard, { resumeAnswered = true }: RestoreOptions = {}): Promise<void> {
  await enterEnded(board);
  for (const row of [...board.deps.session.state.tasks.values()])
    if (!board.entries.has(row.task)) await restore(board, row, resumeAnswered);
  await endOrphans(board);
}

/** Checks tasks again that were blocked because their definition changed. */
export async function recheckBlockedTasks(board: TaskBoard): Promise<void> {
  for (const row of [...board.deps.session.state.tasks.values()]) {
    const entry = board.entries.get(row.task);
    const isBlocked = entry?.status === "paused" && entry.blocked === "agent_changed" && !entry.opened;
    if (isBlocked && isDefined(board.deps, row)) await restore(board, row, true);
  }
}

async function restore(board: TaskBoard, row: TaskRow, resumeAnswered: boolean): Promise<void> {
  if (row.command) return await restoreCommand(board, row);
  const { ledger } = board.deps.session;
  const entry = enterRow(board, row, await readProgress(ledger, row.session));
  if (row.state === "cancelling") {
    entry.status = "cancelling";
    await discardTask(board, entry, "an earlier wish");
    return;
  }
  entry.status = "paused";
  const left = await readTaskRecord(board.deps.session, row);
  if (left.running.size > 0) await endRunning(board, row);
  const blocked = await blockedReason(board, row, left);
  const reason = row.paused?.reason ?? "restart"; // the reason stays, even if something else blocks it
  const waits = reason === "approval" && blocked === null;
  entry.blocked = waits ? "approval" : blocked;
  if (row.state === "running" || (row.paused?.blocked ?? null) !== entry.blocked) await recordPaused(board, entry, reason);
  emitTaskEvent(board, { type: "task_paused", task: viewTask(board, entry), reason });
  if (resumeAnswered && waits && (await isAnswered(ledger, row.session))) await resumeTask(board, entry, "answer");
}

/** Settles the calls that ran when the process ended. */
async function endRunning(board: TaskBoard, { task, session, call, description, model }: TaskRow): Promise<void> {
  const left: LeftSession = { session, task, call: call ?? "", description, model, background: true, closed: ["parked", 75] };
  await endLeftSession(board, left).catch((error: unknown) => warnAboutLeftSession(board, left, error));
}

async function recordPaused({ deps }: TaskBoard, entry: TaskEntry, reason: EventBodies["task.paused"]["reason"]): Promise<void> {
  const body = { task: entry.id, reason, blocked: entry.blocked } as const;
  await writeInOrder(entry, () => deps.session.record([deps.session.draft("task.paused", body)], "full"));
}

function enterRow(board: TaskBoard, row: TaskRow, progress: AgentProgress): TaskEntry {
  const { task: id, agent, description, call: callId, session, model, mode, prompt, startedAt, command } = row;
  const definition = board.deps.definitions().find(({ name }) => name === agent);
  return addTask(board, {
    ...{ id, agent, description, callId, session, model, mode, prompt, startedAt, progress, command },
    opened: undefined,
    foreground: false,
    maxTurns: definition?.maxTurns,
    maxTimeMs: definition?.maxTimeMs,
    insideFork: agent === "fork",
  });
}

/** True if no approval or question is open. */
async function isAnswered(ledger: Ledger, session: string): Promise<boolean> {
  const [approval] = await ledger.pending("approvals", { session, limit: 1 });
  const [question] = await ledger.pending("questions", { session, limit: 1 });
  return approval === undefined && question === undefined;
}

type StartedTask = EventBodies["task.started"] & { readonly at: string };

/** Restores ended tasks and ends processes that they left running. */
async function enterEnded(board: TaskBoard): Promise<void> {
  const { session } = board.deps;
  const started = new Map<string, StartedTask>();
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

function enterEnd(board: TaskBoard, { at, body: { usage, status } }: LedgerEvent<"task.ended">, begun: StartedTask | undefined): void {
  if (!begun || board.entries.has(begun.task)) return;
  const progress: AgentProgress = { ...(begun.command ? restoredProgress() : createProgress()), usage: () => usage };
  const entry = enterRow(board, { ...begun, state: "running", startedAt: begun.at, paused: null }, progress);
  entry.status = status;
  entry.ended = true;
  entry.endedAt = at;
  entry.completion.resolve();
}

/** Finds processes of ended commands whose session was not closed; closing a session ends them. */
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
