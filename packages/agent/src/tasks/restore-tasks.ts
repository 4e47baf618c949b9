import { type EventBodies, knownEvent, type Ledger, type LedgerEvent, type TaskRow } from "@assent/core";
import { discard } from "./cancel-task.ts";
import { endOrphans } from "./end-orphans.ts";
import { openAgent } from "./open-agent.ts";
import { makeProgress, type Progress, recordedProgress } from "./progress.ts";
import { reopenTask } from "./reopen-task.ts";
import { goOn } from "./run-task.ts";
import { enter, runningOf, type TaskBoard, type TaskEntry, type TaskRefusal, tell, viewOf, writeInOrder } from "./task-board.ts";

/** Enters what an earlier process left: what ran is paused, what somebody ended is ended, and what waited for an answer that is there goes on. */
export async function restoreTasks(board: TaskBoard): Promise<void> {
  await enterEnded(board);
  for (const row of [...board.deps.session.state.tasks.values()]) if (!board.entries.has(row.task)) await restore(board, row);
  await endOrphans(board);
}

async function restore(board: TaskBoard, row: TaskRow): Promise<void> {
  const { ledger } = board.deps.session;
  const entry = enterRow(board, row, await recordedProgress(ledger, row.session));
  if (row.state === "cancelling") {
    entry.status = "cancelling";
    await discard(board, entry, "an earlier wish");
    return;
  }
  entry.status = "paused";
  const left = await leftBehind(ledger, row.session);
  if (left.running.size > 0) await endRunning(board, row);
  const blocked = await blockedReason(board, row, left);
  const waits = row.paused?.reason === "approval" && blocked === null;
  entry.blocked = waits ? "approval" : blocked;
  if (row.state === "running" || (row.paused?.blocked ?? null) !== entry.blocked) await recordPaused(board, entry, waits);
  tell(board, { type: "task_paused", task: viewOf(board, entry), reason: waits ? "approval" : "restart" });
  if (waits && (await isAnswered(ledger, row.session))) await resumeTask(board, entry, "answer");
}

async function recordPaused({ deps }: TaskBoard, entry: TaskEntry, waits: boolean): Promise<void> {
  const body = { task: entry.id, reason: waits ? "approval" : "restart", blocked: entry.blocked } as const;
  await writeInOrder(entry, () => deps.session.record([deps.session.draft("task.paused", body)], "full"));
}

function enterRow(board: TaskBoard, row: TaskRow, progress: Progress): TaskEntry {
  const { task: id, agent, description, call: callId, session, model, mode, prompt, startedAt } = row;
  const definition = board.deps.definitions().find(({ name }) => name === agent);
  return enter(board, {
    ...{ id, agent, description, callId, session, model, mode, prompt, startedAt, progress },
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

/** Why a task cannot go on; null: it can. */
async function blockedReason({ deps }: TaskBoard, row: TaskRow, { created, calls }: LeftBehind): Promise<string | null> {
  const { ledger } = deps.session;
  if (!created) return "transcript_missing";
  if (deps.isDirectory?.(created.cwd) === false) return "cwd_missing";
  const definition = deps.definitions().find(({ name }) => name === row.agent);
  if (row.digest !== null && (definition?.digest !== row.digest || !definition.usable)) return "agent_changed";
  if (created.forked && !(await hasEvent(ledger, created.forked))) return "fork_history_missing";
  return [...calls.values()].includes("claimed") ? "execution_unknown" : null;
}

type LeftBehind = {
  readonly created: EventBodies["session.created"] | undefined;
  /** Calls that may change something, by what is known of them. */
  readonly calls: ReadonlyMap<string, "judged" | "claimed" | "ended">;
  /** Those of them that nobody has put in order since their process ended. */
  readonly running: ReadonlySet<string>;
};

/** What ran in it when its process ended is put in order as in any session; it does not go on. */
async function endRunning({ deps, main }: TaskBoard, row: TaskRow): Promise<void> {
  const { task, session, call, description, model } = row;
  try {
    const about = { task, call: call ?? "", description, model, mode: "plan", definition: undefined, background: true, parent: main };
    const opened = await openAgent(deps, about, session);
    await opened.takeUp("", AbortSignal.abort());
    await opened.close("parked", 75);
  } catch (error) {
    deps.warn?.(`what task ${task} left running could not be ended: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A call that was claimed and has no end that anybody knows stays claimed; one that asks a person has done nothing yet. */
async function leftBehind(ledger: Ledger, session: string): Promise<LeftBehind> {
  let created: LeftBehind["created"];
  const calls = new Map<string, "judged" | "claimed" | "ended">();
  const running = new Set<string>();
  const types = ["session.created", "call.judged", "call.claimed", "call.ended", "question.asked"];
  for await (const stored of ledger.read({ session, seq: 0 }, { session, types })) {
    const event = knownEvent(stored);
    if (event?.type === "session.created") created = event.body;
    else if (event) follow(calls, event);
    if (event?.type === "call.claimed" && calls.get(event.body.call) === "claimed") running.add(event.body.call);
    if (event?.type === "call.ended") running.delete(event.body.call);
    if (event?.type === "question.asked") running.delete(event.body.callId);
  }
  return { created, calls, running };
}

function follow(calls: Map<string, "judged" | "claimed" | "ended">, event: LedgerEvent): void {
  switch (event.type) {
    case "call.judged":
      if (!event.body.safe) calls.set(event.body.call, "judged");
      break;
    case "call.claimed":
      if (calls.has(event.body.call)) calls.set(event.body.call, "claimed");
      break;
    case "question.asked":
      calls.set(event.body.callId, "ended");
      break;
    case "call.ended":
      if (event.body.outcome !== "unknown") calls.set(event.body.call, "ended");
      break;
    default:
  }
}

async function hasEvent(ledger: Ledger, { session, seq }: NonNullable<EventBodies["session.created"]["forked"]>): Promise<boolean> {
  for await (const stored of ledger.read({ session, seq: seq - 1 }, { session })) return stored.seq === seq;
  return false;
}

/** Lets a paused task go on. One that is blocked stays as it is, and says why. */
export async function resumeTask(board: TaskBoard, entry: TaskEntry, by: string): Promise<TaskRefusal | undefined> {
  const { id, blocked } = entry;
  if (entry.status !== "paused") return { type: "task_not_paused", message: `Task "${id}" is not paused (${entry.status}).` };
  if (blocked !== null && blocked !== "approval") return { type: blocked, message: `Task "${id}" cannot go on: ${blocked}.` };
  const most = board.deps.maxRunning();
  if (runningOf(board).length >= most) return { type: "task_limit", message: `${most} background tasks are already running.` };
  entry.status = "running"; // nobody else may
  try {
    entry.opened ??= await reopenTask(board, entry);
  } catch (error) {
    entry.status = "paused";
    return {
      type: "agent_init_failed",
      message: `Could not start agent "${entry.agent}": ${String(error instanceof Error ? error.message : error)}`,
    };
  }
  await goOn(board, entry, by);
  return undefined;
}

/** The ids of all tasks there were, and the newest of those that have ended. */
async function enterEnded(board: TaskBoard): Promise<void> {
  const { session } = board.deps;
  const started = new Map<string, EventBodies["task.started"] & { readonly at: string }>();
  for await (const stored of session.ledger.read(
    { session: session.id, seq: 0 },
    { session: session.id, types: ["task.started", "task.ended"] },
  )) {
    const event = knownEvent(stored);
    if (event?.type === "task.started") started.set(event.body.task, { ...event.body, at: event.at });
    if (event?.type === "task.started") board.ids.add(event.body.task);
    const begun = event?.type === "task.ended" ? started.get(event.body.task) : undefined;
    if (event?.type !== "task.ended" || !begun || board.entries.has(begun.task)) continue;
    const { usage, status } = event.body;
    const progress: Progress = { ...makeProgress(), usage: () => usage };
    const entry = enterRow(board, { ...begun, state: "running", startedAt: begun.at, paused: null }, progress);
    entry.status = status;
    entry.ended = true;
    entry.endedAt = event.at;
    entry.over.resolve();
  }
}
