import { createCapabilities, type TaskRefusal, type Tasks, type TaskView } from "@assent/agent";
import { type By, LedgerError, openSession, type Session, type TaskStatus } from "@assent/core";
import type { HostPorts } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { composeAgent } from "../../compose/agent.ts";
import { mergeResumedFlags, NO_OPTIONS } from "../../compose/flags.ts";
import { followPolicy } from "../../compose/follow-policy.ts";
import { commandHolder, reopenDuring, withTimer } from "../../compose/keep-alive.ts";
import type { RunModel } from "../../compose/model.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { cancelOnSignal } from "../../io/cancel-on-signal.ts";
import { CommandError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { personBy } from "../../io/who.ts";
import { findNamedSession } from "../../store/find-row.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import type { Store } from "../../store/store.ts";
import { resumeCommand } from "../sessions/resume-command.ts";
import { type RecordedTask, recordedTasks } from "./recorded-tasks.ts";

/** Several sessions may use the same task id. */
async function findTask(context: Context, { ledger }: Store): Promise<RecordedTask> {
  const id = context.operands[0] ?? "";
  const tasks = await recordedTasks(ledger, await findNamedSession(context, ledger));
  const [first, ...others] = tasks.filter(({ row }) => row.task === id);
  if (!first) throw new CommandError("task_stop_not_found", 4, { message: `There is no unfinished task '${id}'.`, hint: "assent tasks" });
  if (others.length === 0) return first;
  const sessions = [first, ...others].map(({ session }) => session.id).join(", ");
  throw new CommandError("ambiguous_id", 2, {
    message: `There is a task '${id}' in each of these sessions: ${sessions}`,
    hint: "Choose one with --session ID.",
  });
}

function endedText(status: TaskStatus): string {
  return status === "cancelled" ? "cancelled" : "ended, outcome unknown";
}

/** Resolves with undefined on success. */
type TaskAction = (tasks: Tasks, by: By) => Promise<TaskRefusal | undefined>;

/** Calls no model. Returns the task's end if opening the session ended it. */
function settleTask(
  context: Context,
  store: Store,
  { row, session: { id } }: RecordedTask,
  act: TaskAction,
): Promise<TaskStatus | undefined> {
  const ports = hostPortsFor(context, store.directory);
  return withTimer(async () => {
    const session = await takeSession(context, store, ports, id);
    return await reopenDuring(session, () => actOnTask(context, { store, session, ports }, row.task, act));
  });
}

/** This command cannot take a session over, so the error must not suggest it. */
async function takeSession(context: Context, { ledger }: Store, ports: HostPorts, id: string): Promise<Session> {
  try {
    return await openSession({ ledger, ...ports }, { holder: commandHolder(context, "command"), id });
  } catch (error) {
    if (!(error instanceof LedgerError && error.type === "session_in_use")) throw error;
    const { pid, door, host } = error.detail;
    throw new CommandError("session_in_use", 1, {
      message: `Session ${id} is in use by pid ${pid} (${door}) on ${host}.`,
      hint: "That process owns the task. Handle it there, or end the process first.",
    });
  }
}

async function actOnTask(
  context: Context,
  { store, session, ports }: { readonly store: Store; readonly session: Session; readonly ports: HostPorts },
  id: string,
  act: TaskAction,
): Promise<TaskStatus | undefined> {
  const { created } = session.state;
  const flags = mergeResumedFlags(created?.options, { io: context.io, options: NO_OPTIONS });
  const policy = await followPolicy(context, { workspace: created?.workspace ?? "", flags, ledger: store.ledger });
  const cancelling = cancelOnSignal(context.io, ports.clock, store.ledger);
  const agent = await composeAgent(context, {
    session,
    ports,
    policy,
    cancelling,
    chosen: NO_MODEL,
    unattended: "park",
    keepPaused: true,
  });
  try {
    const ended = endOf(agent.tasks.get(id));
    if (ended) return ended;
    const refused = await act(agent.tasks, personBy({ name: context.options.text("by"), door: "command" }));
    if (refused) throw new CommandError(refused.type, 1, { message: refused.message, hint: `assent tasks${storeFlag(context)}` });
    await agent.tasks.idle();
    return undefined;
  } finally {
    await agent.close();
    cancelling.release();
  }
}

function endOf(task: TaskView | undefined): TaskStatus | undefined {
  const { status } = task ?? {};
  return status === "completed" || status === "failed" || status === "cancelled" ? status : undefined;
}

const unasked = (): Promise<never> => Promise.reject(new Error("no model is asked here"));

/** Never called. */
const NO_MODEL: RunModel = {
  id: "none",
  model: () => ({
    specificationVersion: "v4",
    provider: "none",
    modelId: "none",
    supportedUrls: {},
    doGenerate: unasked,
    doStream: unasked,
  }),
  capabilities: createCapabilities(),
  script: undefined,
};

export function discardTask(context: Context): Promise<number> {
  const { io, options } = context;
  return withStoreIfAny(context, async (store) => {
    const task = await findTask(context, store);
    const { task: id, agent, description } = task.row;
    const ended = await settleTask(context, store, task, (tasks, by) => tasks.cancel(id, by.name, options.text("reason")));
    const sessionId = task.session.id;
    if (options.flag("json")) await printJson(io, { id, sessionId, state: ended ?? "cancelled" });
    else await io.stdout.write(`${id}  ${endedText(ended ?? "cancelled")}: ${oneLine(`${agent}: ${description}`)}\n`);
    await io.stderr.write(`The model learns this when the session continues: ${await resumeCommand(context, store.ledger, sessionId)}\n`);
    return 0;
  });
}

export function releaseTask(context: Context): Promise<number> {
  const { io, options } = context;
  return withStoreIfAny(context, async (store) => {
    const task = await findTask(context, store);
    const { task: id, agent, description } = task.row;
    const ended = await settleTask(context, store, task, (tasks, by) =>
      tasks.release(id, { by: by.name, message: options.text("saying") }),
    );
    const sessionId = task.session.id;
    if (options.flag("json")) await printJson(io, { id, sessionId, state: ended ?? "paused" });
    else await io.stdout.write(`${id}  ${ended ? endedText(ended) : "released"}: ${oneLine(`${agent}: ${description}`)}\n`);
    if (ended)
      await io.stderr.write(
        `It cannot continue. The model learns this when the session continues: ${await resumeCommand(context, store.ledger, sessionId)}\n`,
      );
    else await io.stderr.write(`Continue it with: assent resume ${sessionId} --tasks${storeFlag(context)}\n`);
    return 0;
  });
}
