import type { TaskRow } from "@assent/core";
import type { TaskBoard } from "./board.ts";
import { commandProgress, enterCommand } from "./commands.ts";
import { endTask } from "./end-task.ts";

/** A command whose Assent is gone cannot go on: what is left of it is ended, and the model is told that nobody knows what became of it. */
export async function restoreCommand(board: TaskBoard, row: TaskRow): Promise<void> {
  const { task: id, call: callId, agent, description, prompt, session, model, mode, startedAt, command, process, state } = row;
  const about = { id, callId, agent, description, prompt, session, model, mode, startedAt, command };
  const entry = enterCommand(board, { ...about, progress: restoredProgress() });
  if (state === "cancelling") entry.status = "cancelling";
  const left = await endLeftOver(board, process);
  const result = `${left} What it wrote until then is in ${command?.outputFile ?? "no file"}.`;
  if (state === "cancelling")
    await endTask(board, entry, { status: "cancelled", result, error: null, partial: true, by: "an earlier wish" });
  else await endTask(board, entry, { status: "failed", result, error: UNKNOWN, partial: true, ...isUnknown(row) });
}

const UNKNOWN = "its outcome is unknown: Assent ended before it did. Look at the present state before you run it again.";

/** What only read may be run again without a word. */
function isUnknown({ command }: TaskRow): { readonly unknown?: string } {
  return typeof command?.fingerprint === "string" ? { unknown: command.fingerprint } : {};
}

/** Of what it wrote only the file is left. */
export function restoredProgress(): ReturnType<typeof commandProgress> {
  return commandProgress(() => "(What it wrote in an earlier process is in its file alone.)");
}

/** A pid that now belongs to another is never signalled. */
async function endLeftOver({ deps: { processes } }: TaskBoard, process: TaskRow["process"]): Promise<string> {
  if (!process) return "Of its process nothing is known.";
  const { pid } = process;
  if (!processes) return `Nobody looked whether its process ${pid} still runs.`;
  const { found, survivors } = await processes.endLeftOver(process);
  if (survivors.length > 0) return `Process ${survivors.join(", ")} still runs: it could not be ended, or may be another's.`;
  return found ? `What still ran of it (process ${pid}, with its group) was ended.` : `Its process ${pid} was gone.`;
}
