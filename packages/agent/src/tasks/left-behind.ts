import { type EventBodies, type Ledger, type LedgerEvent, parseEvent, type Session, type TaskRow } from "@assent/core";
import type { TaskBoard } from "./board.ts";

/** What the record says of a task whose process is gone. */
export type LeftBehind = {
  readonly created: EventBodies["session.created"] | undefined;
  /** Calls that may change something, by what is known of them. */
  readonly calls: ReadonlyMap<string, "judged" | "claimed" | "ended">;
  /** Those of them that nobody has put in order since their process ended. */
  readonly running: ReadonlySet<string>;
};

/** Reads a task's own record. A call that was claimed and has no end that anybody knows stays claimed; one that asks a person has done nothing yet. */
export async function leftBehind(root: Pick<Session, "id" | "ledger">, { task, session }: TaskRow): Promise<LeftBehind> {
  const { ledger } = root;
  const seen = await lastRelease(root, task);
  let created: LeftBehind["created"];
  const calls = new Map<string, "judged" | "claimed" | "ended">();
  const running = new Set<string>();
  const types = ["session.created", "call.judged", "call.claimed", "call.ended", "question.asked"];
  for await (const stored of ledger.read({ session, seq: 0 }, { session, types })) {
    const event = parseEvent(stored);
    if (event?.type === "session.created") created = event.body;
    else if (event) follow(calls, event, seen);
    if (event?.type === "call.claimed" && calls.get(event.body.call) === "claimed") running.add(event.body.call);
    if (event?.type === "call.ended") running.delete(event.body.call);
    if (event?.type === "question.asked") running.delete(event.body.callId);
  }
  return { created, calls, running };
}

/** The place of the last wish that it go on. One that is blocked goes on only when a person has looked: what was unknown before that place is known to be. */
async function lastRelease({ id, ledger }: Pick<Session, "id" | "ledger">, task: string): Promise<number> {
  let last = 0;
  for await (const { body, pos } of ledger.read({ session: id, seq: 0 }, { session: id, types: ["task.resumed"] }))
    if (body["task"] === task && body["by"] !== "answer") last = pos;
  return last;
}

function follow(calls: Map<string, "judged" | "claimed" | "ended">, event: LedgerEvent, seen: number): void {
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

/** Why a task cannot go on; null: it can. */
export async function blockedReason({ deps }: TaskBoard, row: TaskRow, { created, calls }: LeftBehind): Promise<string | null> {
  const { ledger } = deps.session;
  if (!created) return "transcript_missing";
  if (deps.isDirectory?.(created.cwd) === false) return "cwd_missing";
  if (!isDefined(deps, row)) return "agent_changed";
  if (created.forked && !(await hasEvent(ledger, created.forked))) return "fork_history_missing";
  return [...calls.values()].includes("claimed") ? "execution_unknown" : null;
}

/** There is a definition that is the very one it was built from; a fork needs none. */
export function isDefined({ definitions }: TaskBoard["deps"], { agent, digest }: TaskRow): boolean {
  return digest === null || definitions().some((one) => one.name === agent && one.digest === digest && one.usable);
}

async function hasEvent(ledger: Ledger, { session, seq }: NonNullable<EventBodies["session.created"]["forked"]>): Promise<boolean> {
  for await (const stored of ledger.read({ session, seq: seq - 1 }, { session })) return stored.seq === seq;
  return false;
}
