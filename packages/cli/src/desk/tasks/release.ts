import type { Context } from "../../command-line/spec.ts";
import { printJson } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { continueWith } from "../sessions/continue-with.ts";
import { endedText, findTask, settleTask } from "./settle.ts";

/** Lets a task go on of which nobody knew whether a call had run: a person has looked. */
export function releaseTask(context: Context): Promise<number> {
  const { io, options } = context;
  return withStoreIfAny(context, async (store) => {
    const task = await findTask(context, store);
    const { task: id, agent, description } = task.row;
    const ended = await settleTask(context, store, {
      task,
      act: (tasks, by) => tasks.release(id, { by: by.name, words: options.text("saying") }),
    });
    const sessionId = task.session.id;
    if (options.flag("json")) await printJson(io, { id, sessionId, state: ended ?? "paused" });
    else await io.stdout.write(`${id}  ${ended ? endedText(ended) : "released"}: ${oneLine(`${agent}: ${description}`)}\n`);
    if (ended)
      await io.stderr.write(
        `It cannot go on. The model is told when the session does: ${await continueWith(context, store.ledger, sessionId)}\n`,
      );
    else await io.stderr.write(`It goes on with: assent resume ${sessionId} --tasks${storeFlag(context)}\n`);
    return 0;
  });
}
