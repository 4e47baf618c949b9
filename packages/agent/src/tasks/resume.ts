import { type EventBodies, messageOf, parseEvent, type Session } from "@assent/core";
import { escapeXml } from "../loop/steering/reminder.ts";
import { listRunning, notifyWaiting, type TaskBoard, type TaskEntry, type TaskRefusal, writeInOrder } from "./board.ts";
import { type AgentSpec, type OpenedAgent, openAgent } from "./open-agent.ts";
import { continueTask } from "./run-task.ts";

/** Who releases a task, and a message for it. */
export type TaskRelease = { readonly by: string; readonly message?: string | undefined };

/** Releases a task that a call with an unknown outcome blocked, after a person checked it. It stays paused until resumed. */
export async function releaseTask(board: TaskBoard, id: string, { by, message }: TaskRelease): Promise<TaskRefusal | undefined> {
  const entry = board.entries.get(id);
  if (!entry) return { type: "task_stop_not_found", message: `No task "${id}".` };
  if (entry.status !== "paused") return notPaused(entry);
  if (entry.blocked !== null && entry.blocked !== "execution_unknown")
    return { type: "not_allowed", message: whyNot(entry, entry.blocked) };
  const { session, ids } = board.deps;
  const messages =
    message === undefined ? [] : [session.draft("task.message", { task: id, message: ids.next("n_"), text: message, by: PERSON })];
  const released = [
    session.draft("task.resumed", { task: id, by }),
    session.draft("task.paused", { task: id, reason: "restart", blocked: null }),
  ];
  const news = entry.blocked === null ? messages : [...messages, ...released]; // it was released already; the message still counts
  if (news.length > 0 && !(await writeInOrder(entry, () => session.record(news, "full")))) return notPaused(entry);
  entry.blocked = null;
  notifyWaiting(board);
  return undefined;
}

function notPaused({ id, status }: TaskEntry): TaskRefusal {
  return { type: "task_stop_not_running", message: `Task "${id}" is not paused (${status}).` };
}

function whyNot({ id }: TaskEntry, blocked: string): string {
  if (blocked === "approval") return `Task "${id}" waits for an answer and resumes when it gets one.`;
  return `Task "${id}" cannot be released: ${BLOCKED[blocked] ?? blocked}. Discard it, or resume it when that is fixed.`;
}

/** Why a task is blocked, as a sentence. */
const BLOCKED: Readonly<Record<string, string>> = {
  transcript_missing: "its transcript is missing",
  cwd_missing: "its directory no longer exists",
  agent_changed: "the definition of its agent changed",
  fork_history_missing: "the conversation it was forked from is missing",
  execution_unknown: "one of its calls may have run, and the outcome is unknown",
};

/** Rebuilds an agent on its own session and queues the messages it missed. */
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

/** Resumes a paused task, unless it is blocked. */
export async function resumeTask(board: TaskBoard, entry: TaskEntry, by: string): Promise<TaskRefusal | undefined> {
  const { id, blocked } = entry;
  if (entry.status !== "paused") return { type: "task_not_paused", message: `Task "${id}" is not paused (${entry.status}).` };
  if (blocked !== null && blocked !== "approval")
    return { type: blocked, message: `Task "${id}" cannot be resumed: ${BLOCKED[blocked] ?? blocked}.` };
  const most = board.deps.maxRunning();
  if (listRunning(board).length >= most) return { type: "task_limit", message: `${most} background tasks are already running.` };
  entry.status = "running"; // so that no other caller resumes it
  try {
    entry.opened ??= await reopenTask(board, entry);
  } catch (error) {
    entry.status = "paused";
    return {
      type: "agent_init_failed",
      message: `Could not start agent "${entry.agent}": ${messageOf(error)}`,
    };
  }
  await continueTask(board, entry, by);
  return undefined;
}

/** Messages with this sender come from a person, all others from the main agent. */
const PERSON = "person";

/** Queues a message in the agent's session, under its id in the main session. */
export async function queueMessage(
  session: Session,
  { message, text, by }: Pick<EventBodies["task.message"], "message" | "text" | "by">,
): Promise<void> {
  const modelText = `Message from ${by === PERSON ? "a person" : "the main agent"}: ${escapeXml(text.toWellFormed().replace(/(?![\t\n])\p{Cc}/gu, ""))}`;
  await session.record([session.draft("notice.queued", { notice: message, kind: "message", modelText, displayText: modelText })], "normal");
}
