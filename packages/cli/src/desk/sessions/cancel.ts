import {
  type By,
  type CancelRequest,
  type Clock,
  type Ledger,
  LedgerError,
  openSession,
  readSessionState,
  type SessionRow,
  type SessionState,
} from "@assent/core";
import { createSystemClock } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { commandHolder, withTimer } from "../../compose/keep-alive.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { CommandError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { commandPlace, personBy } from "../../io/who.ts";
import { findNamedSession, findRow } from "../../store/find-row.ts";
import { withStoreIfAny } from "../../store/open.ts";
import type { Store } from "../../store/store.ts";
import { recordedTasks } from "../tasks/recorded-tasks.ts";

export type CancelTarget = { readonly session: SessionRow; readonly target: CancelRequest["target"] };

/** How it ended: `requested` if its process has not ended it yet. */
export type CancelEnd = { readonly state: "cancelled" | "ended" | "requested"; readonly outcome: string | null };

type CancelPorts = { readonly ledger: Ledger; readonly clock: Clock; readonly by: By; readonly reason: string | null };

const PATIENCE_MS = 10_000;
const LOOK_MS = 1_000;

export function cancelRunning(context: Context): Promise<number> {
  const { io, options, operands } = context;
  const id = operands[0] ?? "";
  return withStoreIfAny(context, async (store) => {
    const by = personBy({ name: options.text("by"), door: "command", from: commandPlace(io) });
    const ports = { ledger: store.ledger, clock: createSystemClock(), by, reason: options.text("reason") ?? null };
    const found = await findTarget(context, store.ledger, id);
    const end = (await cancelQueued(context, store, found)) ?? (await withTimer(() => requestCancel(ports, found)));
    if (options.flag("json")) await printJson(io, { id, sessionId: found.session.id, ...end });
    else await io.stdout.write(`${id}  ${endWords(end)}\n`);
    return end.state === "cancelled" ? 0 : 1;
  });
}

export function endWords({ state, outcome }: CancelEnd): string {
  if (state === "cancelled") return "cancelled";
  if (state === "ended") return `ended before it could be cancelled: ${outcome ?? "its process is gone"}`;
  return "the request is recorded, but its process has not ended it yet";
}

/** A session id or its prefix, the id of a background task, or the id of an open call. */
async function findTarget(context: Context, ledger: Ledger, id: string): Promise<CancelTarget> {
  if (id.startsWith("s_")) return await targetOfSession(ledger, await findRow(ledger, "sessions", id));
  const only = await findNamedSession(context, ledger);
  const tasks = (await recordedTasks(ledger, only)).filter(({ row }) => row.task === id);
  const found: CancelTarget[] = tasks.map(({ session }) => ({ session, target: { task: id } }));
  if (found.length === 0)
    for (const session of await openSessions(ledger, only))
      if ((await readSessionState(ledger, session.id)).calls.has(id)) found.push({ session, target: { call: id } });
  const [first, second] = found;
  if (first && !second) return first;
  if (first)
    throw new CommandError("ambiguous_id", 2, {
      message: `There is '${id}' in each of these sessions: ${found.map(({ session }) => session.id).join(", ")}`,
      hint: "Choose one with --session ID.",
    });
  for await (const { body } of ledger.read({ pos: 0 }, { call: id, types: ["call.ended"] })) {
    const message = `Call ${id} has ended: ${String(body["outcome"])}. There is nothing to cancel.`;
    throw new CommandError("not_running", 1, { message });
  }
  throw new CommandError("unknown_id", 4, { message: `There is no session, task or open call '${id}'.`, hint: "assent sessions" });
}

async function openSessions(ledger: Ledger, only: string | undefined): Promise<readonly SessionRow[]> {
  const rows = await ledger.pending("sessions", { limit: 1_000 });
  return only === undefined ? rows : rows.filter(({ id }) => id === only);
}

/** The session of an agent is cancelled by its task, or by the call that waits for it. */
async function targetOfSession(ledger: Ledger, row: SessionRow): Promise<CancelTarget> {
  if (!row.parent) return { session: row, target: null };
  const task = (await recordedTasks(ledger)).find((one) => !one.row.command && one.row.session === row.id);
  if (task) return { session: task.session, target: { task: task.row.task } };
  return { session: await findRow(ledger, "sessions", row.parent.session), target: { call: row.parent.call } };
}

/** Closes a run that no worker has taken yet. Undefined if it is not queued. */
async function cancelQueued(context: Context, store: Store, { session: row, target }: CancelTarget): Promise<CancelEnd | undefined> {
  if (row.state !== "queued" || target) return undefined;
  try {
    const ports = { ledger: store.ledger, ...hostPortsFor(context, store.directory) };
    const session = await openSession(ports, { holder: commandHolder(context, "command"), id: row.id });
    await session.close("cancelled", 130);
    return { state: "cancelled", outcome: null };
  } catch (error) {
    if (error instanceof LedgerError && error.type === "session_in_use") return undefined; // a worker took it
    throw error;
  }
}

/** Records the request and waits until the process that holds the session has obeyed. Rejects if nothing runs that could obey. */
export async function requestCancel({ ledger, clock, by, reason }: CancelPorts, { session, target }: CancelTarget): Promise<CancelEnd> {
  const row = await findRow(ledger, "sessions", session.id);
  refuseNotRunning(row, target);
  if (!isUnderWay(await readSessionState(ledger, row.id), target)) throw notRunning(row.id, "nothing runs in it now");
  const from = await ledger.head();
  const at = new Date(clock.now()).toISOString();
  await ledger.answer([{ type: "cancel.requested", v: 1, at, body: { session: row.id, target, reason, by } }]);
  const isOver = await untilOver(ledger, row.id, from, async () => {
    const { state } = await findRow(ledger, "sessions", row.id);
    return state !== "running" || !isUnderWay(await readSessionState(ledger, row.id), target);
  });
  if (!isOver) return { state: "requested", outcome: null };
  const outcome = await outcomeOf(ledger, { session: row, target }, from);
  return { state: outcome === "cancelled" ? "cancelled" : "ended", outcome };
}

function refuseNotRunning({ id, state, group }: SessionRow, target: CancelRequest["target"]): void {
  if (group) throw notRunning(id, `${group.title} runs its calls; stop them there`);
  if (state === "running") return;
  if (target && "task" in target) throw notRunning(id, `no process has it open; end the task with: assent tasks discard ${target.task}`);
  const words: Readonly<Record<string, string>> = {
    parked: "it waits for a person; reject what it asks instead (assent approvals)",
    interrupted: "its process has ended",
    queued: "no worker has taken it yet",
  };
  throw notRunning(id, words[state] ?? `it has ended (${state})`);
}

function notRunning(id: string, why: string): CommandError {
  return new CommandError("not_running", 1, { message: `There is nothing to cancel in session ${id}: ${why}.` });
}

function isUnderWay({ calls, tasks, openTurn }: SessionState, target: CancelRequest["target"]): boolean {
  if (target === null) return openTurn !== null || calls.size > 0 || [...tasks.values()].some(({ state }) => state !== "paused");
  return "call" in target ? calls.has(target.call) : tasks.has(target.task);
}

/** Looks after every event of the session, and regularly in case its process dies. False if it takes too long. */
function untilOver(ledger: Ledger, session: string, from: number, isOver: () => Promise<boolean>): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  let looking = Promise.resolve();
  const look = (): void => {
    looking = looking.then(async () => ((await isOver()) ? resolve(true) : undefined)).catch(reject);
  };
  const subscription = ledger.subscribe({ pos: from }, { session }, look, reject);
  const regularly = setInterval(look, LOOK_MS);
  const late = setTimeout(() => resolve(false), PATIENCE_MS);
  return promise.finally(() => {
    subscription.close();
    clearInterval(regularly);
    clearTimeout(late);
  });
}

const ENDS = ["call.ended", "task.ended", "turn.ended", "session.closed"];

/** How the target ended since the request; null if its process died before. */
async function outcomeOf(ledger: Ledger, { session, target }: CancelTarget, from: number): Promise<string | null> {
  let outcome: string | null = null;
  for await (const { type, body } of ledger.read({ pos: from }, { session: session.id, types: ENDS })) {
    if (target === null) outcome = type === "session.closed" ? String(body["reason"]) : "cancelled";
    else if ("call" in target && type === "call.ended" && body["call"] === target.call) outcome = String(body["outcome"]);
    else if ("task" in target && type === "task.ended" && body["task"] === target.task) outcome = String(body["status"]);
  }
  return outcome;
}
