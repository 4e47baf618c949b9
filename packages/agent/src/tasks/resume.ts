import { type EventBodies, parseEvent, type Session } from "@assent/core";
import { escapeXml } from "../loop/steering/reminder.ts";
import { changed, runningOf, type TaskBoard, type TaskEntry, type TaskRefusal, writeInOrder } from "./board.ts";
import { type AgentSpec, type OpenedAgent, openAgent } from "./open-agent.ts";
import { goOn } from "./run-task.ts";

/** Who lets a task go, and what they say of it. */
export type Releasing = { readonly by: string; readonly words?: string | undefined };

/**
 * A task of which nobody knew whether a call had run may go on: a person has looked. It stays paused until it is resumed, and is told their words first.
 * What else blocks a task is not a matter of looking.
 */
export async function releaseTask(board: TaskBoard, id: string, { by, words }: Releasing): Promise<TaskRefusal | undefined> {
  const entry = board.entries.get(id);
  if (!entry) return { type: "task_stop_not_found", message: `No task "${id}".` };
  if (entry.status !== "paused") return notPaused(entry);
  if (entry.blocked !== null && entry.blocked !== "execution_unknown")
    return { type: "not_allowed", message: whyNot(entry, entry.blocked) };
  const { session, ids } = board.deps;
  const said = words === undefined ? [] : [session.draft("task.message", { task: id, message: ids.next("n_"), text: words, by: PERSON })];
  const looked = [
    session.draft("task.resumed", { task: id, by }),
    session.draft("task.paused", { task: id, reason: "restart", blocked: null }),
  ];
  const news = entry.blocked === null ? said : [...said, ...looked]; // it may go on already: words are heard all the same
  if (news.length > 0 && !(await writeInOrder(entry, () => session.record(news, "full")))) return notPaused(entry);
  entry.blocked = null;
  changed(board);
  return undefined;
}

function notPaused({ id, status }: TaskEntry): TaskRefusal {
  return { type: "task_stop_not_running", message: `Task "${id}" is not paused (${status}).` };
}

function whyNot({ id }: TaskEntry, blocked: string): string {
  if (blocked === "approval") return `Task "${id}" waits for an answer, and goes on when it has one.`;
  return `Task "${id}" cannot be released: ${blocked}. It can only be discarded, or goes on when that is put right.`;
}

/** Builds it again, as it was, on its own session, and lets it hear what was said to it while it was away. */
export async function reopenTask(board: TaskBoard, entry: TaskEntry): Promise<OpenedAgent> {
  const { id: task, agent, mode, model, callId, description } = entry;
  const definition = board.deps.definitions().find(({ name }) => name === agent);
  const spec: AgentSpec = { task, definition, mode, model, background: true, parent: board.main, call: callId ?? "", description };
  const opened = await openAgent(board.deps, spec, entry.session);
  board.nodes.set(opened.session.id, opened.node);
  entry.progress = opened.progress;
  const { ledger, id } = board.deps.session;
  const heard = new Set<unknown>();
  for await (const { body } of ledger.read({ session: entry.session, seq: 0 }, { session: entry.session, types: ["notice.queued"] }))
    heard.add(body["notice"]);
  for await (const stored of ledger.read({ session: id, seq: 0 }, { session: id, types: ["task.message"] })) {
    const event = parseEvent({ ...stored, body: await ledger.resolve(stored.body) });
    if (event?.type === "task.message" && event.body.task === task && !heard.has(event.body.message))
      await queueMessage(opened.session, event.body);
  }
  return opened;
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

/** A person speaks under this name; the main agent under any other. */
export const PERSON = "person";

/** Queues a message in the agent's own session, under the id it has on the root's chain. */
export async function queueMessage(
  session: Session,
  { message, text, by }: Pick<EventBodies["task.message"], "message" | "text" | "by">,
): Promise<void> {
  const said = `Message from ${by === PERSON ? "a person" : "the main agent"}: ${escapeXml(text.toWellFormed().replace(/(?![\t\n])\p{Cc}/gu, ""))}`;
  await session.record(
    [session.draft("notice.queued", { notice: message, kind: "message", modelText: said, displayText: said })],
    "normal",
  );
}
