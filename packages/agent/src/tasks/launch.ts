import { ToolError, type ToolResult } from "@assent/core";
import { hookEnvelope, sessionHookInput } from "@assent/core/parts";
import type { LoadedAgent } from "../agents/load.ts";
import { resolveMode } from "../agents/tools-and-mode.ts";
import { enter, refuseInTask, reserve, type TaskBoard, type TaskEntry, takeId, tell, viewOf } from "./board.ts";
import { closeAgent } from "./close-agent.ts";
import type { AgentEnd } from "./end-task.ts";
import { endTask } from "./end-task.ts";
import { isInsideFork } from "./fork.ts";
import { type AgentNode, type AgentSpec, type OpenedAgent, openAgent } from "./open-agent.ts";
import { runTask } from "./run-task.ts";

/** What the model asks for. */
export type LaunchInput = {
  readonly description: string;
  readonly prompt: string;
  readonly agent?: string;
  readonly run_in_background?: boolean;
};

/** A call of the `agent` tool. */
export type Launch = { readonly caller: AgentNode; readonly callId: string; readonly input: LaunchInput; readonly signal: AbortSignal };

const DEEPEST = 3;

/** Starts an agent. A task is left running; a foreground agent is waited for. Throws what the model is told. */
export async function launchAgent(board: TaskBoard, launch: Launch): Promise<ToolResult> {
  const definition = definitionOf(board, launch);
  const background = launch.input.run_in_background ?? definition?.background ?? false;
  refuseNesting(launch.caller, { name: definition?.name, background });
  const release = background ? reserve(board) : (): void => undefined;
  let entry: TaskEntry;
  try {
    entry = await start(board, { ...launch, definition, background });
  } finally {
    release();
  }
  return background ? launched(board, entry) : await waitedFor(board, entry, launch.signal);
}

/** Undefined: a fork. */
function definitionOf({ deps }: TaskBoard, { input: { agent } }: Launch): LoadedAgent | undefined {
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

type Nesting = { readonly name: string | undefined; readonly background: boolean };

function refuseNesting({ path, background: inTask }: AgentNode, { name, background }: Nesting): void {
  if (path.length > DEEPEST) throw new ToolError(`Agents may be nested at most ${DEEPEST} deep.`, "agent_depth");
  if (name !== undefined && path.includes(name))
    throw new ToolError(`Agent "${name}" is already running above this one: ${path.join(" > ")}.`, "agent_cycle");
  refuseInTask(background && inTask);
}

type Starting = Launch & { readonly definition: LoadedAgent | undefined; readonly background: boolean };

/** Builds it, asks the hooks, records it, enters it, tells of it: a failure on the way leaves nothing running. */
async function start(board: TaskBoard, starting: Starting): Promise<TaskEntry> {
  const { caller, callId, input, definition, background, signal } = starting;
  const name = definition?.name ?? "fork";
  const spec: AgentSpec = {
    task: takeId(board, callId),
    definition,
    mode: resolveMode(definition?.mode ?? null, caller.session.state.mode),
    model: definition?.model ?? caller.session.state.model,
    background,
    parent: caller,
    call: callId,
    description: input.description,
  };
  const opened = await openAgent(board.deps, spec).catch((error: unknown) => notStarted(name, error));
  try {
    const words = await mayStart(board, { spec, name, signal });
    const prompt = words === undefined ? input.prompt : `${input.prompt}\n\n${words}`;
    signal.throwIfAborted(); // the call that wants it may have ended meanwhile
    if (background) await record(board, { spec, opened, prompt, name });
    else await refuseFenced(caller);
    return entered(board, { spec, opened, prompt, name });
  } catch (error) {
    await closeAgent(board, opened, ["failed", 1]).catch(() => undefined);
    return notStarted(name, error);
  }
}

function notStarted(name: string, error: unknown): never {
  const why = error instanceof Error ? error.message : String(error);
  throw new ToolError(`Could not start agent "${name}": ${why}`, "agent_init_failed");
}

type Asking = { readonly spec: AgentSpec; readonly name: string; readonly signal: AbortSignal };

/** What hooks want the agent to know; a block, or a hook that fails, keeps it from starting. */
async function mayStart({ deps }: TaskBoard, { spec, name, signal }: Asking): Promise<string | undefined> {
  const { id: sessionId, state } = spec.parent.session;
  const about = sessionHookInput({ sessionId, mode: state.mode, ...(state.created && { cwd: state.created.cwd }) }, "subagent_start");
  const said = await deps.hooks?.consult("subagent_start", { ...about, agent_id: spec.task, agent_type: name }, signal);
  if (!said) return undefined;
  if (said.stop !== undefined || (said.verdict !== "none" && said.verdict !== "allow"))
    throw new Error(said.stop || said.reason || `blocked by hook ${said.name}`);
  return hookEnvelope({ name: said.name, ...(said.spokenBy !== undefined && { spokenBy: said.spokenBy }), context: said.context });
}

type Built = { readonly spec: AgentSpec; readonly opened: OpenedAgent; readonly prompt: string; readonly name: string };

async function record({ deps }: TaskBoard, { spec, opened, prompt, name }: Built): Promise<void> {
  const { task, description, call, model, mode, definition } = spec;
  const started = { task, agent: name, description, prompt, call, session: opened.session.id, model, mode };
  await deps.session.record([deps.session.draft("task.started", { ...started, digest: definition?.digest ?? null })], "full");
}

/**
 * An agent that a call waits for leaves no mark beside its own session, which has a writer of its own. Whoever takes the caller's session over ends those that
 * stand below it by then; one that comes later must not begin.
 */
async function refuseFenced({ session }: AgentNode): Promise<void> {
  await session.record([], "normal"); // nothing to store, but only the writer may
}

function entered(board: TaskBoard, { spec, opened, prompt, name }: Built): TaskEntry {
  const { task: id, description, call: callId, model, mode, background, definition } = spec;
  board.nodes.set(opened.session.id, opened.node);
  return enter(board, {
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

function launched(board: TaskBoard, entry: TaskEntry): ToolResult {
  const { id, agent, description, prompt } = entry;
  tell(board, { type: "task_started", task: viewOf(board, entry) });
  void runTask(board, entry, (opened, signal) => opened.begin(prompt, signal));
  return {
    content: `Started background task ${id} (${agent}: ${description}). It runs on its own; do not wait or poll.\nYou will receive a <task-notification> when it ends.`,
    display: { type: "task_execution", agentName: agent, taskDescription: description, taskPrompt: prompt, status: "background" },
    details: { taskId: id, agent },
  };
}

/** Ends with its call: a cancel of the call is one of the agent. */
async function waitedFor(board: TaskBoard, entry: TaskEntry, signal: AbortSignal): Promise<ToolResult> {
  const cancel = (): void => entry.controller.abort("the call was cancelled");
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const end = await runTask(board, entry, (opened, limited) => opened.begin(entry.prompt, limited));
    if (end !== "parked") return toldEnd(board, entry, end);
    const result = entry.progress.text();
    const stuck: AgentEnd = { status: "failed", result, error: "it waits for a person, and a foreground agent cannot", partial: true };
    await endTask(board, entry, stuck);
    return toldEnd(board, entry, stuck);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

function toldEnd(board: TaskBoard, entry: TaskEntry, { status, result, error }: AgentEnd): ToolResult {
  const { agent, description, prompt, id } = entry;
  const about = { agentName: agent, taskDescription: description, taskPrompt: prompt };
  const display = { type: "task_execution", ...about, status, result, ...(error !== null && { terminateReason: error }) } as const;
  const details = { taskId: id, agent, session: entry.session, usage: viewOf(board, entry).usage };
  if (status === "completed") return { content: result === "" ? "(agent ended without text)" : result, display, details };
  const message = error ?? "the agent was cancelled";
  const content = `Error: ${message}${result === "" ? "" : `\n\n${result}`}`;
  return { content, display, details, error: { message, type: "execution_failed" } };
}
