import { type TaskBoard, type TaskEntry, type TaskRefusal, writeInOrder } from "./board.ts";
import { queueMessage, resumeTask } from "./resume.ts";

/** Sends a message to a running or paused agent, which gets it between two turns. A paused agent is resumed. */
export async function sendToTask(board: TaskBoard, id: string, text: string, by: string): Promise<TaskRefusal | undefined> {
  const entry = board.entries.get(id);
  if (!entry) return { type: "send_message_not_found", message: `No task "${id}".` };
  const refused = refusalOf(entry);
  if (refused) return refused;
  const { session, ids } = board.deps;
  const message = ids.next("n_");
  const isWritten = await writeInOrder(entry, async () => {
    await session.record([session.draft("task.message", { task: id, message, text, by })], "normal");
    if (entry.opened) await queueMessage(entry.opened.session, { message, text, by });
  });
  if (!isWritten) return refusalOf(entry) ?? finishing(entry);
  return entry.status === "paused" && entry.blocked !== "approval" ? await resumeTask(board, entry, by) : undefined;
}

function refusalOf(entry: TaskEntry): TaskRefusal | undefined {
  if (entry.command && !entry.ended)
    return { type: "send_message_not_running", message: `Task "${entry.id}" is a command and takes no messages.` };
  if (entry.foreground && !entry.ended)
    return { type: "send_message_not_running", message: `Task "${entry.id}" is not running (in the foreground).` };
  if (entry.ended && entry.status !== "running" && entry.status !== "cancelling")
    return { type: "send_message_not_running", message: `Task "${entry.id}" is not running (${entry.status}).` };
  return entry.ended || entry.finishing || entry.status === "cancelling" ? finishing(entry) : undefined;
}

function finishing({ id }: TaskEntry): TaskRefusal {
  return { type: "send_message_finishing", message: `Task "${id}" is finishing; the message was not delivered.` };
}
