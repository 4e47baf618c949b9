import type { Tasks, TaskView } from "@assent/agent";
import { type EventBodies, type LedgerEvent, parseEvent } from "@assent/core";
import { oneLine, visible } from "../../io/visible-text.ts";
import { whenText } from "../../io/who.ts";
import type { TuiSession } from "../conversation/tui-session.ts";
import { describePause, taskResultText } from "../transcript/task-ends.ts";

const USAGE = "/tasks ID shows one; /tasks stop ID and /tasks resume ID stop and resume it";
const SHOWN_LINES = 200;

/** The output of `/tasks`: a list, one task, or the result of stopping or resuming one. */
export async function tasksText(current: TuiSession | undefined, words: readonly string[]): Promise<string> {
  const registry = current?.agent.tasks;
  const [first, second] = words[0] === "show" ? words.slice(1) : words;
  if (current && registry && first !== undefined) {
    const act = TASK_ACTIONS[first];
    if (act && second !== undefined) return await act(registry, second);
    if (!act) return await describeOneTask(current, first);
  }
  const all = registry?.list() ?? [];
  return all.length === 0 ? "No background tasks." : `${all.map(line).join("\n")}\n${USAGE}`;
}

const TASK_ACTIONS: Readonly<Record<string, (registry: Tasks, id: string) => Promise<string>>> = {
  resume: async (registry, id) => (await registry.resume(id, "person"))?.message ?? `${id}: resumed.`,
  stop: async (registry, id) => (await registry.cancel(id, "person"))?.message ?? `${id}: stopped.`,
};

function line({ id, agent, description, status }: TaskView): string {
  return `${id}  ${status}  ${oneLine(agent)}: ${oneLine(description)}`;
}

async function describeOneTask(current: TuiSession, id: string): Promise<string> {
  const view = current.agent.tasks.get(id);
  const recorded = await readRecordedTask(current, id);
  if (!recorded) return `No task "${oneLine(id)}". /tasks lists them.`;
  const { title, where, ended } = recorded;
  const status = view?.status ?? ended?.status ?? "interrupted";
  const written = ended?.text ?? current.agent.tasks.output(id) ?? "";
  const lines = visible(written).trimEnd().split("\n");
  const shown = lines.slice(-SHOWN_LINES);
  const hidden = lines.length - shown.length;
  return [
    `${id}  ${status}${view?.blockedReason === undefined ? "" : ` (${describePause(view.blockedReason)})`}  ${title}`,
    where,
    "",
    ...(hidden > 0 ? [`(${hidden} earlier lines are not shown)`] : []),
    ...(written === "" ? ["(nothing yet)"] : shown),
  ].join("\n");
}

type ListedTask = {
  readonly title: string;
  readonly where: string;
  readonly ended: { readonly status: string; readonly text: string } | undefined;
};

async function readRecordedTask({ session: { ledger, id: session } }: TuiSession, task: string): Promise<ListedTask | undefined> {
  let found: ListedTask | undefined;
  for await (const stored of ledger.read({ session, seq: 0 }, { session, types: ["task.started", "task.ended"] })) {
    if (stored.body["task"] !== task) continue;
    const event = parseEvent({ ...stored, body: await ledger.resolve(stored.body) });
    if (event?.type === "task.started") found = taskFromStart(event);
    if (found && event?.type === "task.ended") found = { ...found, ended: { status: event.body.status, text: endText(event.body) } };
  }
  return found;
}

function taskFromStart({ at, body: { agent, description, command, session } }: LedgerEvent<"task.started">): ListedTask {
  const all = command ? `Full output: ${oneLine(command.outputFile)}` : `Its conversation: assent sessions export ${session}`;
  return { title: `${oneLine(agent)}: ${oneLine(description)}`, where: `Started ${whenText(at)}. ${all}`, ended: undefined };
}

function endText(body: EventBodies["task.ended"]): string {
  const text = taskResultText(body);
  return text === "" ? "(no output)" : text;
}
