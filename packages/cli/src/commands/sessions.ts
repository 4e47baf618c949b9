import { resolve } from "node:path";
import type { JsonObject, Ledger, SessionRow } from "@assent/core";
import type { Context } from "../command-spec.ts";
import { printList } from "../list-page.ts";
import { withStoreIfAny } from "../open-store.ts";
import { storeFlag } from "../store-location.ts";
import { whenText } from "../who.ts";

/** Lists sessions and how they stand; those of tasks stand behind the ones that started them. */
export function run(context: Context): Promise<number> {
  const { io, options } = context;
  const state = options.text("state");
  const all = options.flag("all");
  const given = options.text("cwd");
  const cwd = given === undefined ? undefined : resolve(io.cwd, given);
  const flags = [all && " --all", state && ` --state ${state}`, cwd && ` --cwd ${cwd}`, storeFlag(context)];
  return withStoreIfAny(context, async ({ ledger }) => {
    const asked = await openQuestions(ledger);
    const open = ({ id, openApprovals }: SessionRow): number => openApprovals + (asked.get(id) ?? 0);
    return await printList(context, ledger, {
      kind: "sessions",
      query: { all: true },
      keep: (row) => (all || !row.parent) && (state === undefined || row.state === state) && (cwd === undefined || row.cwd === cwd),
      json: (row) => sessionForm(row, open(row)),
      columns: [
        { name: "id" },
        { name: "state" },
        { name: "updated" },
        { name: "calls" },
        { name: "open" },
        { name: "unknown" },
        { name: "paused" },
        { name: "title", shrinks: true },
        { name: "directory", shrinks: true },
      ],
      cells: (row) => [
        row.id,
        row.state,
        whenText(row.updatedAt),
        ...[row.calls, open(row), row.unknownOutcomes, pausedTasks(row)].map(String),
        titleOf(row),
        row.cwd,
      ],
      none: "No sessions.",
      command: ["assent sessions", ...flags].filter(Boolean).join(""),
    });
  });
}

/** A question of a model waits for a person like an approval; by session, how many do. */
async function openQuestions(ledger: Ledger): Promise<ReadonlyMap<string, number>> {
  const count = new Map<string, number>();
  for (const { session } of await ledger.pending("questions")) count.set(session, (count.get(session) ?? 0) + 1);
  return count;
}

function pausedTasks({ tasks }: SessionRow): number {
  return tasks.filter(({ state }) => state === "paused").length;
}

function titleOf({ title, parent, forked }: SessionRow): string {
  if (parent) return `(${parent.task} of ${parent.session}) ${title}`;
  return forked ? `(fork of ${forked.session}) ${title}` : title;
}

function sessionForm(row: SessionRow, openApprovals: number): JsonObject {
  const { id, cwd, title, state, model, turns, calls, unknownOutcomes, startedAt, updatedAt, writer, parent, forked } = row;
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
    pausedTasks: pausedTasks(row),
    startedAt,
    updatedAt,
    writer: writer && { pid: writer.pid, host: writer.host, door: writer.door },
    ...(parent && { parent }),
    ...(forked && { forked }),
  };
}
