import { messageOf, ToolError, type ToolResult } from "@assent/core";
import { hookEnvelope } from "@assent/core/parts";
import type { LoadedAgent } from "../agents/load.ts";
import { resolveMode } from "../agents/tools-and-mode.ts";
import { loopHookInput, refusalOf } from "../loop/turn/hooks.ts";
import { addTask, chooseTaskId, emitTaskEvent, refuseInTask, reserveSlot, type TaskBoard, type TaskEntry, viewTask } from "./board.ts";
import { closeAgent } from "./close-agent.ts";
import type { AgentEnd } from "./end-task.ts";
import { endTask } from "./end-task.ts";
import { isInsideFork } from "./fork.ts";
import { type AgentNode, type AgentSpec, type OpenedAgent, openAgent } from "./open-agent.ts";
import { runTask } from "./run-task.ts";

export type LaunchInput = {
  readonly description: string;
  readonly prompt: string;
  readonly agent?: string;
  readonly run_in_background?: boolean;
};

export type AgentLaunch = {
  readonly caller: AgentNode;
  readonly callId: string;
  readonly input: LaunchInput;
  readonly signal: AbortSignal;
};

const DEEPEST = 3;

/** Starts an agent, and waits for it unless it runs in the background. Throws a `ToolError` for the model. */
export async function launchAgent(board: TaskBoard, launch: AgentLaunch): Promise<ToolResult> {
  const { definition, background } = checkLaunch(board, launch);
  const release = background ? reserveSlot(board) : (): void => undefined;
  let entry: TaskEntry;
  try {
    entry = await startAgent(board, { ...launch, definition, background });
  } finally {
    release();
  }
  return background ? runInBackground(board, entry) : await runInForeground(board, entry, launch.signal);
}

/** Throws a `ToolError` if this agent can't be started from here. */
export function checkLaunch(
  board: TaskBoard,
  launch: Pick<AgentLaunch, "caller" | "input">,
): { readonly definition: LoadedAgent | undefined; readonly background: boolean } {
  const definition = definitionOf(board, launch.input);
  const background = launch.input.run_in_background ?? definition?.background ?? false;
  refuseNesting(launch.caller, definition?.name, background);
  return { definition, background };
}

/** Returns undefined for a fork. */
function definitionOf({ deps }: TaskBoard, { agent }: LaunchInput): LoadedAgent | undefined {
  if (agent === undefined) {
    if (isInsideFork())
      throw new ToolError("A fork cannot start another fork. Do this work yourself or name an agent.", "agent_recursive_fork");
    return undefined;
  }
  const all = deps.definitions();
  const found = all.find(({ name }) => name === agent);
  if (!found) {
    const names = all.flatMap(({ name, usable }) => (usable ? [name] : []));
    throw new ToolError(`No agent named "${agent}". Available: ${names.join(", ") || "none"}.`, "agent_not_found");
  }
  if (!found.usable)
    throw new ToolError(`Agent "${agent}" comes from an untrusted workspace. Run "assent trust" first.`, "agent_untrusted");
  return found;
}

function refuseNesting({ path, background: inTask }: AgentNode, name: string | undefined, background: boolean): void {
  if (path.length > DEEPEST) throw new ToolError(`Agents may be nested at most ${DEEPEST} deep.`, "agent_depth");
  if (name !== undefined && path.includes(name))
    throw new ToolError(`Agent "${name}" is already running above this one: ${path.join(" > ")}.`, "agent_cycle");
  refuseInTask(background && inTask);
}

type AgentStart = AgentLaunch & { readonly definition: LoadedAgent | undefined; readonly background: boolean };

/** Builds the agent, consults hooks, records it and adds it to the board. A failure leaves nothing running. */
async function startAgent(board: TaskBoard, starting: AgentStart): Promise<TaskEntry> {
  const { caller, callId, input, definition, background, signal } = starting;
  const name = definition?.name ?? "fork";
  const spec: AgentSpec = {
    task: chooseTaskId(board, callId),
    definition,
    mode: resolveMode(definition?.mode ?? null, caller.session.state.mode),
    model: definition?.model ?? caller.session.state.model,
    background,
    parent: caller,
    call: callId,
    description: input.description,
  };
  const opened = await openAgent(board.deps, spec).catch((error: unknown) => failStart(name, error));
  try {
    const words = await consultStartHooks(board, spec, name, signal);
    const prompt = words === undefined ? input.prompt : `${input.prompt}\n\n${words}`;
    signal.throwIfAborted(); // the call may have ended meanwhile
    if (background) await recordStart(board, { spec, opened, prompt, name });
    else await checkSessionHeld(caller);
    return addAgent(board, { spec, opened, prompt, name });
  } catch (error) {
    await closeAgent(board, opened, ["failed", 1]).catch(() => undefined);
    return failStart(name, error);
  }
}

function failStart(name: string, error: unknown): never {
  throw new ToolError(`Could not start agent "${name}": ${messageOf(error)}`, "agent_init_failed");
}

/** Consults `subagent_start` hooks. A block or a failing hook prevents the start. */
async function consultStartHooks({ deps }: TaskBoard, spec: AgentSpec, name: string, signal: AbortSignal): Promise<string | undefined> {
  const about = loopHookInput({ session: spec.parent.session }, "subagent_start");
  const answer = await deps.hooks?.consult("subagent_start", { ...about, agent_id: spec.task, agent_type: name }, signal);
  if (!answer) return undefined;
  const why = refusalOf(answer);
  if (why !== undefined) throw new Error(why);
  const { name: hook, spokenBy, context } = answer;
  return hookEnvelope({ name: hook, spokenBy, context });
}

type BuiltAgent = { readonly spec: AgentSpec; readonly opened: OpenedAgent; readonly prompt: string; readonly name: string };

async function recordStart({ deps }: TaskBoard, { spec, opened, prompt, name }: BuiltAgent): Promise<void> {
  const { task, description, call, model, mode, definition } = spec;
  const started = { task, agent: name, description, prompt, call, session: opened.session.id, model, mode };
  await deps.session.record([deps.session.draft("task.started", { ...started, digest: definition?.digest ?? null })], "full");
}

/**
 * Checks that this process still holds the caller's session. A process that takes it over ends the foreground agents it finds; later ones
 * must not start.
 */
async function checkSessionHeld({ session }: AgentNode): Promise<void> {
  await session.record([], "normal"); // stores nothing, but fails for a stale writer
}

function addAgent(board: TaskBoard, { spec, opened, prompt, name }: BuiltAgent): TaskEntry {
  const { task: id, description, call: callId, model, mode, background, definition } = spec;
  board.nodes.set(opened.session.id, opened.node);
  return addTask(board, {
    ...{ id, agent: name, description, callId, model, mode, prompt, opened, progress: opened.progress },
    session: opened.session.id,
    foreground: !background,
    startedAt: new Date(board.deps.clock.now()).toISOString(),
    maxTurns: definition?.maxTurns,
    maxTimeMs: definition?.maxTimeMs,
    insideFork: definition === undefined || isInsideFork(),
    command: undefined,
  });
}

function runInBackground(board: TaskBoard, entry: TaskEntry): ToolResult {
  const { id, agent, description, prompt } = entry;
  emitTaskEvent(board, { type: "task_started", task: viewTask(board, entry) });
  void runTask(board, entry, (opened, signal) => opened.start(prompt, signal));
  return {
    content: `Started background task ${id} (${agent}: ${description}). It runs on its own; do not wait or poll.\nYou will receive a <task-notification> when it ends.`,
    display: { type: "task_execution", agentName: agent, taskDescription: description, taskPrompt: prompt, status: "background" },
    details: { taskId: id, agent },
  };
}

/** Cancelling the call cancels the agent. */
async function runInForeground(board: TaskBoard, entry: TaskEntry, signal: AbortSignal): Promise<ToolResult> {
  const cancel = (): void => entry.controller.abort("the call was cancelled");
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const end = await runTask(board, entry, (opened, limited) => opened.start(entry.prompt, limited));
    if (end !== "parked") return endResult(board, entry, end);
    const result = entry.progress.text();
    const stuck: AgentEnd = { status: "failed", result, error: "it waits for a person, which a foreground agent cannot do", partial: true };
    await endTask(board, entry, stuck);
    return endResult(board, entry, stuck);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

function endResult(board: TaskBoard, entry: TaskEntry, { status, result, error }: AgentEnd): ToolResult {
  const { agent, description, prompt, id } = entry;
  const about = { agentName: agent, taskDescription: description, taskPrompt: prompt };
  const display = { type: "task_execution", ...about, status, result, ...(error !== null && { terminateReason: error }) } as const;
  const details = { taskId: id, agent, session: entry.session, usage: viewTask(board, entry).usage };
  if (status === "completed") return { content: result === "" ? "(agent ended without text)" : result, display, details };
  const message = error ?? "the agent was cancelled";
  const content = `Error: ${message}${result === "" ? "" : `\n\n${result}`}`;
  return { content, display, details, error: { message, type: "execution_failed" } };
}
