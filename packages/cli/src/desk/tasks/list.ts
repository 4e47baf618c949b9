import type { JsonObject } from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { printJson } from "../../io/output.ts";
import { textTable } from "../../io/text-table.ts";
import { whenText } from "../../io/who.ts";
import { findNamedSession } from "../../store/find-row.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { blockedBy, type RecordedTask, recordedTasks } from "./recorded-tasks.ts";

const COLUMNS = ["id", "state", "blocked by", "started", "session", { shrinks: "task" }] as const;

export function listTasks(context: Context): Promise<number> {
  const { io, options } = context;
  return withStoreIfAny(context, async ({ ledger }) => {
    const tasks = await recordedTasks(ledger, await findNamedSession(context, ledger));
    if (options.flag("json")) await printJson(io, tasks.map(taskForm));
    else await io.stdout.write(tasks.length === 0 ? "No tasks.\n" : textTable(COLUMNS, tasks.map(cells), io.stdout.columns()));
    return 0;
  });
}

function cells(task: RecordedTask): readonly string[] {
  const { row, session, state } = task;
  const { task: id, agent, description, startedAt } = row;
  return [id, state, blockedBy(task) ?? "", whenText(startedAt), session.id, `${agent}: ${description}`];
}

function taskForm(task: RecordedTask): JsonObject {
  const { row, session, state } = task;
  const { task: id, agent, description, startedAt, call, command } = row;
  const own = command ? null : row.session;
  return { id, sessionId: session.id, agent, description, state, blockedBy: blockedBy(task), startedAt, callId: call, ownSessionId: own };
}
