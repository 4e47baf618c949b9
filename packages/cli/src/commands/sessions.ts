import { resolve } from "node:path";
import type { JsonObject, SessionRow } from "@assent/core";
import type { Context } from "../command-spec.ts";
import { printList } from "../list-page.ts";
import { withStoreIfAny } from "../open-store.ts";
import { storeFlag } from "../store-location.ts";
import { whenText } from "../who.ts";

/** Lists sessions and how they stand. */
export function run(context: Context): Promise<number> {
  const { io, options } = context;
  const state = options.text("state");
  const given = options.text("cwd");
  const cwd = given === undefined ? undefined : resolve(io.cwd, given);
  return withStoreIfAny(context, ({ ledger }) =>
    printList(context, ledger, {
      kind: "sessions",
      query: { all: true },
      keep: (row) => (state === undefined || row.state === state) && (cwd === undefined || row.cwd === cwd),
      json: sessionForm,
      columns: [
        { name: "id" },
        { name: "state" },
        { name: "updated" },
        { name: "calls" },
        { name: "open" },
        { name: "unknown" },
        { name: "title", shrinks: true },
        { name: "directory", shrinks: true },
      ],
      cells: (row) => [
        row.id,
        row.state,
        whenText(row.updatedAt),
        String(row.calls),
        String(row.openApprovals),
        String(row.unknownOutcomes),
        row.title,
        row.cwd,
      ],
      none: "No sessions.",
      command: ["assent sessions", state && ` --state ${state}`, cwd && ` --cwd ${cwd}`, storeFlag(context)].filter(Boolean).join(""),
    }),
  );
}

function sessionForm(row: SessionRow): JsonObject {
  const { id, cwd, title, state, model, turns, calls, openApprovals, unknownOutcomes, startedAt, updatedAt, writer } = row;
  return {
    id,
    cwd,
    title,
    state,
    model,
    turns,
    calls,
    openApprovals,
    unknownOutcomes,
    pausedTasks: 0,
    startedAt,
    updatedAt,
    writer: writer && { pid: writer.pid, host: writer.host, door: writer.door },
  };
}
