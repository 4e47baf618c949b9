import {
  type BackgroundCommand,
  type BackgroundEnd,
  type BackgroundLife,
  mayBeUnderWay,
  messageOf,
  type TaskProcess,
  type TaskRow,
  ToolError,
} from "@assent/core";
import {
  addTask,
  chooseTaskId,
  emitTaskEvent,
  refuseInTask,
  reserveSlot,
  type TaskBoard,
  type TaskEntry,
  viewTask,
  writeInOrder,
} from "./board.ts";
import { endTask } from "./end-task.ts";
import type { AgentNode } from "./open-agent.ts";
import { outputForNotice } from "./output.ts";
import { type AgentProgress, createProgress } from "./progress.ts";

/**
 * Runs a command as a task. Resolves with the task id when its first process is recorded; undefined if it ended before. Until then it
 * belongs to its call, and a rejection of `run` fails the call.
 */
export async function startCommand(board: TaskBoard, launch: BackgroundCommand, signal: AbortSignal): Promise<string | undefined> {
  const caller = board.nodes.get(launch.sessionId);
  if (!caller) throw new ToolError("Commands cannot run in the background of this session.", "shell_execute_error");
  refuseInTask(caller.background);
  const release = reserveSlot(board);
  const ending = new AbortController();
  const leaveCall = forwardAbort(ending, signal);
  const begun = Promise.withResolvers<TaskEntry>();
  let entry: TaskEntry | undefined;
  const start: BackgroundLife["started"] = async (process, outputFile) => {
    if (entry) return await nextProcess(board, entry, process);
    ending.signal.throwIfAborted();
    entry = await recordCommand(board, { caller, launch, process, outputFile });
    leaveCall();
    forwardAbort(ending, entry.controller.signal);
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
      await Promise.allSettled([starting]); // a start that is being recorded gets a notice
      return entry;
    };
    const task = await Promise.race([begun.promise, over()]);
    if (task) void awaitCommand(board, task, running);
    else await running;
    return task?.id;
  } finally {
    leaveCall();
    release();
  }
}

/** Aborts with the signal. The returned function stops that. */
function forwardAbort(ending: AbortController, signal: AbortSignal): () => void {
  const abort = (): void => ending.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return () => signal.removeEventListener("abort", abort);
}

type CommandStart = {
  readonly caller: AgentNode;
  readonly launch: BackgroundCommand;
  readonly process: TaskProcess;
  readonly outputFile: string;
};

/** Records the command before it starts, then adds it to the board. */
async function recordCommand(board: TaskBoard, { caller, launch, process, outputFile }: CommandStart): Promise<TaskEntry> {
  const { session, clock } = board.deps;
  const { callId, tool: agent, command: prompt, description, sessionId, output } = launch;
  const task = chooseTaskId(board, callId);
  const { mode, calls } = caller.session.state;
  const call = calls.get(callId);
  const fingerprint = mayBeUnderWay(call) && !call.judged.safe ? (call.judged.fingerprint ?? null) : null;
  const command = { outputFile, fingerprint };
  const about = { agent, description, prompt, model: null, mode, command, session: sessionId };
  const started = session.draft("task.started", { ...about, task, call: callId, digest: null });
  await session.record([started, session.draft("task.process", { task, ...process })], "full");
  const startedAt = new Date(clock.now()).toISOString();
  const entry = addCommand(board, { ...about, id: task, callId, startedAt, progress: commandProgress(output) });
  emitTaskEvent(board, { type: "task_started", task: viewTask(board, entry) });
  return entry;
}

async function nextProcess(board: TaskBoard, entry: TaskEntry, process: TaskProcess): Promise<void> {
  const { session } = board.deps;
  const draft = session.draft("task.process", { task: entry.id, ...process });
  if (!(await writeInOrder(entry, () => session.record([draft], "normal")))) throw new Error("the task has ended");
}

async function awaitCommand(board: TaskBoard, entry: TaskEntry, running: Promise<BackgroundEnd>): Promise<void> {
  const end = await running.catch((error: unknown): BackgroundEnd => {
    return { status: "failed", result: entry.progress.text(), error: messageOf(error), partial: true };
  });
  endLeftoversWithSession(board, entry);
  if (entry.ended) return board.deps.warn?.(`task ${entry.id} had ended already; its later result was ignored`);
  const by = end.status === "cancelled" ? { by: String(entry.controller.signal.reason ?? "") } : {};
  await endTask(board, entry, { ...end, ...by, result: outputForNotice(board, entry, end.result) });
}

type CommandEntry = Pick<
  TaskEntry,
  "id" | "agent" | "description" | "callId" | "session" | "model" | "mode" | "prompt" | "startedAt" | "progress" | "command"
>;

function addCommand(board: TaskBoard, about: CommandEntry): TaskEntry {
  return addTask(board, { ...about, opened: undefined, foreground: false, maxTurns: undefined, maxTimeMs: undefined, insideFork: false });
}

const PARTIAL = 8_000;

/** The progress of a command is its output. */
export function commandProgress(output: () => string): AgentProgress {
  return { ...createProgress(), output, text: () => output().slice(-PARTIAL).toWellFormed() };
}

/** Ends a command of an earlier process. Its outcome is unknown, and its notice says so. */
export async function restoreCommand(board: TaskBoard, row: TaskRow): Promise<void> {
  const { task: id, call: callId, agent, description, prompt, session, model, mode, startedAt, command, process, state } = row;
  const about = { id, callId, agent, description, prompt, session, model, mode, startedAt, command };
  const entry = addCommand(board, { ...about, progress: restoredProgress() });
  if (state === "cancelling") entry.status = "cancelling";
  const left = await endLeftOver(board, process);
  const result = `${left} Its output until then is in ${command?.outputFile ?? "no file"}.`;
  if (state === "cancelling")
    await endTask(board, entry, { status: "cancelled", result, error: null, partial: true, by: "an earlier wish" });
  else await endTask(board, entry, { status: "failed", result, error: UNKNOWN, partial: true, ...unknownOutcome(row) });
}

const UNKNOWN = "its outcome is unknown: Assent ended before it did. Check the current state before you run it again.";

/** Commands that only read may be run again freely. */
function unknownOutcome({ command }: TaskRow): { readonly unknown?: string } {
  return typeof command?.fingerprint === "string" ? { unknown: command.fingerprint } : {};
}

export function restoredProgress(): ReturnType<typeof commandProgress> {
  return commandProgress(() => "(Its output from an earlier process is only in its file.)");
}

/** Never signals a pid that belongs to another process now. */
async function endLeftOver({ deps: { processes } }: TaskBoard, process: TaskRow["process"]): Promise<string> {
  if (!process) return "Its process was not recorded.";
  const { pid } = process;
  if (!processes) return `Assent did not check whether its process ${pid} still runs.`;
  const { found, survivors } = await processes.endLeftOver(process);
  if (survivors.length > 0) return `Process ${survivors.join(", ")} still runs: it could not be ended, or belongs to another program.`;
  return found ? `Its process ${pid} and its process group still ran, and were ended.` : `Its process ${pid} had already ended.`;
}

/** Ends leftover processes of a command with the session or with this process. */
function endLeftoversWithSession({ deps: { session, processes }, leftovers }: TaskBoard, { id }: TaskEntry): void {
  const process = session.state.tasks.get(id)?.process;
  if (process && processes) leftovers.push({ process, released: processes.endWithUs(process) });
}

export async function endLeftovers(board: TaskBoard): Promise<void> {
  const remains = board.leftovers.splice(0);
  await endSurvivors(
    board,
    remains.map(({ process }) => process),
  );
  for (const { released } of remains) released();
}

/** Ends these processes and warns about survivors. */
export async function endSurvivors({ deps: { processes, warn } }: TaskBoard, left: readonly TaskProcess[]): Promise<void> {
  const [first, ...others] = left.flatMap(({ others: more = [], ...process }) => [process, ...more]);
  if (!first || !processes) return;
  try {
    const { survivors } = await processes.endLeftOver({ ...first, others });
    if (survivors.length > 0) warn?.(`processes of ended background commands still run: ${survivors.join(", ")}`);
  } catch (error) {
    warn?.(`leftover processes of background commands could not be ended: ${messageOf(error)}`);
  }
}
