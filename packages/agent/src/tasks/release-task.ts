import { changed, type TaskBoard, type TaskEntry, type TaskRefusal, writeInOrder } from "./board.ts";
import { PERSON } from "./send.ts";

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
