import type { Context } from "../../command-line/spec.ts";
import { printJson } from "../../io/output.ts";
import { textTable } from "../../io/text-table.ts";
import { whenText } from "../../io/who.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { listWorkers, type WorkerView } from "../../worker/registered-workers.ts";
import { labelsText } from "../../worker/requirements.ts";
import { findUntaken, untakenText } from "./untaken.ts";

const COLUMNS = ["id", "host", "pid", "load", "since", { shrinks: "labels" }, { shrinks: "workspaces" }] as const;

export function listWorkersCommand(context: Context): Promise<number> {
  const { io, options } = context;
  return withStoreIfAny(context, async ({ ledger }) => {
    const workers = await listWorkers(ledger);
    const waiting = await findUntaken(ledger, workers, ["queued", "interrupted", "parked"]);
    if (options.flag("json")) {
      await printJson(io, { workers, waiting: waiting.map(({ id, reason }) => ({ sessionId: id, reason })) });
      return 0;
    }
    await io.stdout.write(workers.length === 0 ? "No workers.\n" : textTable(COLUMNS, workers.map(cells), io.stdout.columns()));
    await io.stderr.write(untakenText(context, waiting));
    return 0;
  });
}

function cells({ id, host, pid, sessions, concurrency, startedAt, labels, workspaces }: WorkerView): readonly string[] {
  return [id, host, String(pid), `${sessions.length}/${concurrency}`, whenText(startedAt), labelsText(labels), workspaces.join(" ")];
}
