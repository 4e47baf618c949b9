import { resolve } from "node:path";
import { type JsonObject, type Ledger, readRows, type SessionRow } from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { whenText } from "../../io/who.ts";
import { isGatewayGroup } from "../../mcp-gateway/group.ts";
import { printList } from "../../store/list-page.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { isWorkerSession, listWorkers } from "../../worker/registered-workers.ts";
import { findUntaken, untakenText } from "../workers/untaken.ts";

export function listSessions(context: Context): Promise<number> {
  const { io, options } = context;
  const state = options.text("state");
  const all = options.flag("all");
  const given = options.text("cwd");
  const cwd = given === undefined ? undefined : resolve(io.cwd, given);
  const flags = [all && " --all", state && ` --state ${state}`, cwd && ` --cwd ${cwd}`, storeFlag(context)];
  return withStoreIfAny(context, async ({ ledger }) => {
    const totals = await agentTotals(ledger);
    const stateOf = await shownStates(ledger);
    const untaken = await findUntaken(ledger, await listWorkers(ledger), ["queued"]);
    const reasonOf = (row: SessionRow): string | undefined => untaken.find(({ id }) => id === row.id)?.reason;
    const printed = await printList(context, ledger, {
      kind: "sessions",
      query: { all: true, newestFirst: true },
      keep: (row) =>
        !isWorkerSession(row.id) &&
        (all || !row.parent) &&
        (state === undefined || stateOf(row) === state) &&
        (cwd === undefined || row.cwd === cwd),
      json: (row) => {
        const reason = reasonOf(row);
        return { ...sessionForm(row, totals(row)), state: stateOf(row), ...(reason !== undefined && { reason }) };
      },
      columns: ["id", "state", "updated", "calls", "open", "unknown", "paused", { shrinks: "title" }, { shrinks: "directory" }],
      cells: (row) => {
        const { open, unknown } = totals(row);
        const counts = [row.calls, open, unknown, pausedTasks(row)].map(String);
        return [row.id, stateOf(row), whenText(row.updatedAt), ...counts, titleOf(row), row.cwd];
      },
      none: "No sessions.",
      command: ["assent sessions", ...flags].filter(Boolean).join(""),
    });
    if (!options.flag("json")) await io.stderr.write(untakenText(context, untaken));
    return printed;
  });
}

/** A call that another agent runs has no process of Assent: once it is claimed, the agent runs it until it reports. */
async function shownStates(ledger: Ledger): Promise<(row: SessionRow) => SessionRow["state"]> {
  const running = new Set<string>();
  for await (const { id, group, state } of readRows(ledger, "sessions", { all: true })) {
    if (!group || isGatewayGroup(group) || state !== "interrupted") continue;
    for await (const { session } of ledger.read({ session: id, seq: 0 }, { session: id, types: ["call.claimed"] })) running.add(session);
  }
  return ({ id, state }) => (running.has(id) ? "running" : state);
}

function pausedTasks({ tasks }: SessionRow): number {
  return tasks.filter(({ state }) => state === "paused").length;
}

function titleOf({ title, parent, forked, group }: SessionRow): string {
  if (group) return `(run by ${group.title}) ${title}`;
  if (parent) return `(${parent.task} of ${parent.session}) ${title}`;
  return forked ? `(fork of ${forked.session}) ${title}` : title;
}

function sessionForm(row: SessionRow, { open: openApprovals, unknown: unknownOutcomes }: SessionTotals): JsonObject {
  const { id, cwd, title, state, model, turns, calls, startedAt, updatedAt, writer, parent, forked, group } = row;
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
    ...(group && { group }),
  };
}

export type SessionTotals = { readonly open: number; readonly unknown: number };

const NOTHING: SessionTotals = { open: 0, unknown: 0 };

/** Adds an agent's items to every session above it, because a person looks there. */
export async function agentTotals(ledger: Ledger): Promise<(session: SessionRow) => SessionTotals> {
  const asked = await openQuestions(ledger);
  const totals = new Map<string, SessionTotals>();
  const above = new Map<string, string>();
  for await (const { id, parent, openApprovals, unknownOutcomes } of readRows(ledger, "sessions", { all: true })) {
    if (parent) above.set(id, parent.session);
    const own = { open: openApprovals + (asked.get(id) ?? 0), unknown: unknownOutcomes };
    if (own.open === 0 && own.unknown === 0) continue;
    for (let at: string | undefined = id; at !== undefined; at = above.get(at)) {
      const { open, unknown } = totals.get(at) ?? NOTHING;
      totals.set(at, { open: open + own.open, unknown: unknown + own.unknown });
    }
  }
  return ({ id }) => totals.get(id) ?? NOTHING;
}

async function openQuestions(ledger: Ledger): Promise<ReadonlyMap<string, number>> {
  const count = new Map<string, number>();
  for (const { session } of await ledger.pending("questions")) count.set(session, (count.get(session) ?? 0) + 1);
  return count;
}
