import { type EventBodies, type Ledger, type LedgerEvent, parseEvent, type Session, type TaskRow } from "@assent/core";
import type { TaskBoard } from "./board.ts";

/** What the record says about a task whose process ended. */
export type TaskRecord = {
  readonly created: EventBodies["session.created"] | undefined;
  /** The state of each unsafe call. */
  readonly calls: ReadonlyMap<string, "judged" | "claimed" | "ended">;
  /** Calls that nothing has settled since their process ended. */
  readonly running: ReadonlySet<string>;
};

/** Reads the record of a task. A claimed call with an unknown end stays claimed. A call that asks a person has no effect yet. */
export async function readTaskRecord(root: Pick<Session, "id" | "ledger">, { task, session }: TaskRow): Promise<TaskRecord> {
  const { ledger } = root;
  const seen = await lastRelease(root, task);
  let created: TaskRecord["created"];
  const calls = new Map<string, "judged" | "claimed" | "ended">();
  const running = new Set<string>();
  const types = ["session.created", "call.judged", "call.claimed", "call.ended", "question.asked"];
  for await (const stored of ledger.read({ session, seq: 0 }, { session, types })) {
    const event = parseEvent(stored);
    if (event?.type === "session.created") created = event.body;
    else if (event) followCall(calls, event, seen);
    if (event?.type === "call.claimed" && calls.get(event.body.call) === "claimed") running.add(event.body.call);
    if (event?.type === "call.ended") running.delete(event.body.call);
    if (event?.type === "question.asked") running.delete(event.body.callId);
  }
  return { created, calls, running };
}

/** The position of the last resume. A person has checked calls that were unknown before it. */
async function lastRelease({ id, ledger }: Pick<Session, "id" | "ledger">, task: string): Promise<number> {
  let last = 0;
  for await (const { body, pos } of ledger.read({ session: id, seq: 0 }, { session: id, types: ["task.resumed"] }))
    if (body["task"] === task && body["by"] !== "answer") last = pos;
  return last;
}

function followCall(calls: Map<string, "judged" | "claimed" | "ended">, event: LedgerEvent, seen: number): void {
  switch (event.type) {
    case "call.judged":
      if (!event.body.safe) calls.set(event.body.call, "judged");
      break;
    case "call.claimed":
      if (calls.has(event.body.call)) calls.set(event.body.call, "claimed");
      break;
    case "question.asked":
      calls.set(event.body.callId, "ended");
      break;
    case "call.ended":
      if (event.body.outcome !== "unknown" || event.pos < seen) calls.set(event.body.call, "ended");
      break;
    default:
  }
}

/** Why a task cannot be resumed; null if it can. */
export async function blockedReason({ deps }: TaskBoard, row: TaskRow, { created, calls }: TaskRecord): Promise<string | null> {
  const { ledger } = deps.session;
  if (!created) return "transcript_missing";
  if (deps.isDirectory?.(created.cwd) === false) return "cwd_missing";
  if (!isDefined(deps, row)) return "agent_changed";
  if (created.forked && !(await hasEvent(ledger, created.forked))) return "fork_history_missing";
  return [...calls.values()].includes("claimed") ? "execution_unknown" : null;
}

/** True if the agent's definition is unchanged. A fork has none. */
export function isDefined({ definitions }: TaskBoard["deps"], { agent, digest }: TaskRow): boolean {
  return digest === null || definitions().some((one) => one.name === agent && one.digest === digest && one.usable);
}

async function hasEvent(ledger: Ledger, { session, seq }: NonNullable<EventBodies["session.created"]["forked"]>): Promise<boolean> {
  for await (const stored of ledger.read({ session, seq: seq - 1 }, { session })) return stored.seq === seq;
  return false;
}
