import {
  type BackgroundCommand,
  type BackgroundEnd,
  type BackgroundLife,
  mayBeUnderWay,
  type TaskProcess,
  type TaskRow,
  ToolError,
} from "@assent/core";
import { enter, refuseInTask, reserve, type TaskBoard, type TaskEntry, takeId, tell, viewOf, writeInOrder } from "./board.ts";
import { endTask } from "./end-task.ts";
import type { AgentNode } from "./open-agent.ts";
import { toldOutput } from "./output.ts";
import { makeProgress, type Progress } from "./progress.ts";

/**
 * Runs a command as a task. Resolves with the task's id when its first process is on record and may begin; undefined: it came to its end before there was one.
 * Until then it belongs to its call, and ends with it; what `run` rejects with is then the call's failure. Throws what the model is told.
 */
export async function startCommand(board: TaskBoard, launch: BackgroundCommand, signal: AbortSignal): Promise<string | undefined> {
  const caller = board.nodes.get(launch.sessionId);
  if (!caller) throw new ToolError("Commands cannot run in the background of this session.", "shell_execute_error");
  refuseInTask(caller.background);
  const release = reserve(board);
  const ending = new AbortController();
  const leaveCall = follows(ending, signal);
  const begun = Promise.withResolvers<TaskEntry>();
  let entry: TaskEntry | undefined;
  const start: BackgroundLife["started"] = async (process, outputFile) => {
    if (entry) return await nextProcess(board, entry, process);
    ending.signal.throwIfAborted();
    entry = await begin(board, { caller, launch, process, outputFile });
    leaveCall();
    follows(ending, entry.controller.signal);
    begun.resolve(entry);
  };
  let starting: Promise<void> | undefined;
  const started: BackgroundLife["started"] = (...given) => {
    starting = start(...given);
    return starting;
  };
  try {
    const running = launch.run({ signal: ending.signal, started });
    const over = async (): Promise<TaskEntry | undefined> => {
      await Promise.allSettled([running]);
      await Promise.allSettled([starting]); // what is on its way to the record has a notice
      return entry;
    };
    const task = await Promise.race([begun.promise, over()]);
    if (task) void see(board, task, running);
    else await running;
    return task?.id;
  } finally {
    leaveCall();
    release();
  }
}

/** The returned function ends it. */
function follows(ending: AbortController, signal: AbortSignal): () => void {
  const abort = (): void => ending.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return () => signal.removeEventListener("abort", abort);
}

type Beginning = {
  readonly caller: AgentNode;
  readonly launch: BackgroundCommand;
  readonly process: TaskProcess;
  readonly outputFile: string;
};

/** It is on record before it begins; then it is in the registry, then it is told of. */
async function begin(board: TaskBoard, { caller, launch, process, outputFile }: Beginning): Promise<TaskEntry> {
  const { session, clock } = board.deps;
  const { callId, tool: agent, command: prompt, description, sessionId, output } = launch;
  const task = takeId(board, callId);
  const { mode, calls } = caller.session.state;
  const call = calls.get(callId);
  const fingerprint = mayBeUnderWay(call) && !call.judged.safe ? (call.judged.fingerprint ?? null) : null;
  const command = { outputFile, fingerprint };
  const about = { agent, description, prompt, model: null, mode, command, session: sessionId };
  const started = session.draft("task.started", { ...about, task, call: callId, digest: null });
  await session.record([started, session.draft("task.process", { task, ...process })], "full");
  const startedAt = new Date(clock.now()).toISOString();
  const entry = enterCommand(board, { ...about, id: task, callId, startedAt, progress: commandProgress(output) });
  tell(board, { type: "task_started", task: viewOf(board, entry) });
  return entry;
}

/** A line of several programs: the one before has ended. */
async function nextProcess(board: TaskBoard, entry: TaskEntry, process: TaskProcess): Promise<void> {
  const { session } = board.deps;
  const draft = session.draft("task.process", { task: entry.id, ...process });
  if (!(await writeInOrder(entry, () => session.record([draft], "normal")))) throw new Error("the task has ended");
}

/** Sees to what becomes of it. */
async function see(board: TaskBoard, entry: TaskEntry, running: Promise<BackgroundEnd>): Promise<void> {
  const end = await running.catch((error: unknown): BackgroundEnd => {
    const why = error instanceof Error ? error.message : String(error);
    return { status: "failed", result: entry.progress.text(), error: why, partial: true };
  });
  endWithSession(board, entry);
  if (entry.ended) return board.deps.warn?.(`what task ${entry.id} came to after its end was left out`);
  const by = end.status === "cancelled" ? { by: String(entry.controller.signal.reason ?? "") } : {};
  await endTask(board, entry, { ...end, ...by, result: toldOutput(board, entry, end.result) });
}

type CommandEntry = Pick<
  TaskEntry,
  "id" | "agent" | "description" | "callId" | "session" | "model" | "mode" | "prompt" | "startedAt" | "progress" | "command"
>;

/** A new entry of a command, running. */
export function enterCommand(board: TaskBoard, about: CommandEntry): TaskEntry {
  return enter(board, { ...about, opened: undefined, foreground: false, maxTurns: undefined, maxTimeMs: undefined, insideFork: false });
}

const PARTIAL = 8_000;

/** A command uses no model and makes no calls. */
export function commandProgress(output: () => string): Progress {
  return { ...makeProgress(), output, text: () => output().slice(-PARTIAL).toWellFormed() };
}

/** A command whose Assent is gone cannot go on: what is left of it is ended, and the model is told that nobody knows what became of it. */
export async function restoreCommand(board: TaskBoard, row: TaskRow): Promise<void> {
  const { task: id, call: callId, agent, description, prompt, session, model, mode, startedAt, command, process, state } = row;
  const about = { id, callId, agent, description, prompt, session, model, mode, startedAt, command };
  const entry = enterCommand(board, { ...about, progress: restoredProgress() });
  if (state === "cancelling") entry.status = "cancelling";
  const left = await endLeftOver(board, process);
  const result = `${left} What it wrote until then is in ${command?.outputFile ?? "no file"}.`;
  if (state === "cancelling")
    await endTask(board, entry, { status: "cancelled", result, error: null, partial: true, by: "an earlier wish" });
  else await endTask(board, entry, { status: "failed", result, error: UNKNOWN, partial: true, ...isUnknown(row) });
}

const UNKNOWN = "its outcome is unknown: Assent ended before it did. Look at the present state before you run it again.";

/** What only read may be run again without a word. */
function isUnknown({ command }: TaskRow): { readonly unknown?: string } {
  return typeof command?.fingerprint === "string" ? { unknown: command.fingerprint } : {};
}

/** Of what it wrote only the file is left. */
export function restoredProgress(): ReturnType<typeof commandProgress> {
  return commandProgress(() => "(What it wrote in an earlier process is in its file alone.)");
}

/** A pid that now belongs to another is never signalled. */
async function endLeftOver({ deps: { processes } }: TaskBoard, process: TaskRow["process"]): Promise<string> {
  if (!process) return "Of its process nothing is known.";
  const { pid } = process;
  if (!processes) return `Nobody looked whether its process ${pid} still runs.`;
  const { found, survivors } = await processes.endLeftOver(process);
  if (survivors.length > 0) return `Process ${survivors.join(", ")} still runs: it could not be ended, or may be another's.`;
  return found ? `What still ran of it (process ${pid}, with its group) was ended.` : `Its process ${pid} was gone.`;
}

/** What a command that ends now leaves running is ended with the session, or with this process, if that ends at once. */
export function endWithSession({ deps: { session, processes }, remains }: TaskBoard, { id }: TaskEntry): void {
  const process = session.state.tasks.get(id)?.process;
  if (process && processes) remains.push({ process, released: processes.endWithUs(process) });
}

/** Ends what commands that have ended left running. */
export async function endRemains(board: TaskBoard): Promise<void> {
  const remains = board.remains.splice(0);
  await endSurvivors(
    board,
    remains.map(({ process }) => process),
  );
  for (const { released } of remains) released();
}

/** All of them at once; what cannot be ended is told. */
export async function endSurvivors({ deps: { processes, warn } }: TaskBoard, left: readonly TaskProcess[]): Promise<void> {
  const [first, ...others] = left.flatMap(({ others: more = [], ...process }) => [process, ...more]);
  if (!first || !processes) return;
  try {
    const { survivors } = await processes.endLeftOver({ ...first, others });
    if (survivors.length > 0) warn?.(`of background commands that have ended still runs: process ${survivors.join(", ")}`);
  } catch (error) {
    warn?.(`what background commands left running could not be ended: ${error instanceof Error ? error.message : String(error)}`);
  }
}
