import type { Context } from "../../command-line/spec.ts";
import { printJson } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { continueWith } from "../sessions/continue-with.ts";
import { endedText, findTask, settleTask } from "./settle.ts";

/** Ends a task that does not run: what it left open is ended with it, and its model is told that it was cancelled. */
export function discardTask(context: Context): Promise<number> {
  const { io, options } = context;
  return withStoreIfAny(context, async (store) => {
    const task = await findTask(context, store);
    const { task: id, agent, description } = task.row;
    const ended = await settleTask(context, store, { task, act: (tasks, by) => tasks.cancel(id, by.name, options.text("reason")) });
    const sessionId = task.session.id;
    if (options.flag("json")) await printJson(io, { id, sessionId, state: ended ?? "cancelled" });
    else await io.stdout.write(`${id}  ${endedText(ended ?? "cancelled")}: ${oneLine(`${agent}: ${description}`)}\n`);
    await io.stderr.write(`The model is told when the session goes on: ${await continueWith(context, store.ledger, sessionId)}\n`);
    return 0;
  });
}
