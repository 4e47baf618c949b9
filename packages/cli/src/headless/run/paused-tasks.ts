import type { Tasks, TaskView } from "@assent/agent";
import type { Session } from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { oneLine } from "../../io/visible-text.ts";
import { storeFlag } from "../../store/location.ts";

/** Lists paused background agents and how to unblock them; with `--tasks` resumes those that can continue. */
export async function reportPausedTasks(context: Context, tasks: Tasks, session: string): Promise<void> {
  const { io, options } = context;
  const paused = tasks.list().filter(({ status }) => status === "paused");
  const isWanted = options.flag("tasks");
  for (const task of paused) {
    const { id, agent, description, resumable, blockedReason } = task;
    const continues = isWanted && resumable !== false;
    const how = continues ? ((await tasks.resume(id, "resume"))?.message ?? "continues") : `is paused (${blockedReason ?? "restart"})`;
    const ways = unblocking(task).map((command) => `  ${command} --session ${session}${storeFlag(context)}\n`);
    await io.stderr.write(`${id}  ${oneLine(agent)}: ${oneLine(description)} ${how}\n${ways.join("")}`);
  }
  if (!isWanted && paused.some(({ resumable }) => resumable !== false))
    await io.stderr.write(`Continue paused agents with: assent resume ${session} --tasks${storeFlag(context)}\n`);
}

/** Explains a turn that starts because an earlier process left a notice. */
export async function reportNotices({ io }: Pick<Context, "io">, { state }: Pick<Session, "state">): Promise<void> {
  for (const { kind, displayText } of state.notices.values())
    if (kind !== "proposal") await io.stderr.write(`${oneLine(displayText)} The model learns this in the next turn.\n`);
}

function unblocking({ id, resumable, blockedReason }: TaskView): readonly string[] {
  if (resumable !== false) return [];
  const release = blockedReason === "execution_unknown" ? [`assent tasks release ${id}`] : [];
  return [...release, `assent tasks discard ${id}`];
}

/** Resumes tasks that waited for an agent definition of the host, if `--tasks` is given. */
export async function resumeUnblocked({ options }: Context, tasks: Tasks): Promise<void> {
  const stuck = tasks.list().filter(({ resumable }) => resumable === false);
  await tasks.recheckBlocked();
  if (!options.flag("tasks")) return;
  for (const { id } of stuck) if (tasks.get(id)?.resumable === true) await tasks.resume(id, "resume");
}
