import { hasWakingNotice, nextDue } from "@assent/agent";
import {
  type Call,
  type EventBodies,
  type JsonObject,
  type Ledger,
  mayBeUnderWay,
  readSessionState,
  type SessionRow,
  type SessionState,
} from "@assent/core";

export type WorkReason = "submitted" | "interrupted" | "answered" | "task" | "notice" | "schedule";

export type Readiness = {
  /** Undefined if there is nothing to do now. */
  readonly why: WorkReason | undefined;
  /** The next time at which something may become due by itself. */
  readonly next: number | undefined;
  /** Differs after each step forward of the session. */
  readonly progress: string;
  readonly created: EventBodies["session.created"] | undefined;
};

/**
 * Decides by its record alone whether a session has work that needs no person:
 * 1. it was submitted or handed back, or its process ended
 * 2. an answer, the end of a deadline or a request about a proposal waits to be used
 * 3. a background agent can continue
 * 4. a notice for the model waits, and no call is open
 * 5. a schedule is due
 */
export async function readReadiness(ledger: Ledger, row: SessionRow, now: number): Promise<Readiness> {
  const state = await readSessionState(ledger, row.id);
  const created = state.created && (await ledger.resolve(state.created as unknown as JsonObject)); // the shape stays
  return {
    why: await findWork(ledger, row, state, now),
    next: nextTime(state, now),
    progress: progressOf(row, state),
    created: created as unknown as Readiness["created"],
  };
}

async function findWork(ledger: Ledger, { state: listed }: SessionRow, state: SessionState, now: number): Promise<WorkReason | undefined> {
  if (listed === "queued") return "submitted";
  if (listed === "interrupted") return "interrupted";
  const due = [...state.schedules.values()].some((row) => row.durable && (nextDue(row) ?? Number.POSITIVE_INFINITY) <= now);
  if (listed === "parked") {
    if (hasAnswer(state, now)) return "answered";
    for (const { paused, session } of state.tasks.values())
      if (paused && (paused.blocked === null || (paused.blocked === "approval" && (await isAnswered(ledger, session))))) return "task";
    if (state.calls.size === 0 && hasWakingNotice({ state })) return "notice";
  }
  return due && state.calls.size === 0 && (listed === "parked" || listed === "done") ? "schedule" : undefined;
}

function hasAnswer(state: SessionState, now: number): boolean {
  let isBehind = false; // a call that may run waits for every earlier call
  for (const call of [...state.calls.values()].sort((one, other) => one.seq - other.seq)) {
    if (isWaiting(call, state, now)) isBehind = true;
    else if (!isBehind || call.state === "waiting") return true;
  }
  return [...state.proposals.values()].some((row) => row.state === "applying" || row.requested !== null);
}

function isWaiting(call: Call, { questions }: SessionState, now: number): boolean {
  if (mayBeUnderWay(call)) return [...questions.values()].some(({ callId, state }) => callId === call.callId && state === "open");
  return call.state === "waiting" && call.approvalState === "open" && !(call.expiresAt !== null && Date.parse(call.expiresAt) <= now);
}

async function isAnswered(ledger: Ledger, session: string): Promise<boolean> {
  const [approvals, questions] = await Promise.all([
    ledger.pending("approvals", { session, limit: 1 }),
    ledger.pending("questions", { session, limit: 1 }),
  ]);
  return approvals.length === 0 && questions.length === 0;
}

function nextTime(state: SessionState, now: number): number | undefined {
  const deadlines = [...state.calls.values()].map((call) => (call.state === "waiting" ? Date.parse(call.expiresAt ?? "") : Number.NaN));
  const dues = [...state.schedules.values()].map((row) => (row.durable ? (nextDue(row) ?? Number.NaN) : Number.NaN));
  const later = [...deadlines, ...dues].filter((time) => time > now);
  return later.length === 0 ? undefined : Math.min(...later);
}

function progressOf({ state: listed }: SessionRow, state: SessionState): string {
  const calls = [...state.calls.values()].map((call) => [
    ...[call.callId, call.state, "revision" in call ? call.revision : 0],
    call.state === "waiting" ? call.approvalState : "",
  ]);
  const questions = [...state.questions.values()].map(({ id, state: answered }) => [id, answered]);
  const tasks = [...state.tasks.values()].map(({ task, state: running, paused }) => [task, running, paused?.blocked]);
  const schedules = [...state.schedules.values()].map(({ schedule, lastDue }) => [schedule, lastDue]);
  return JSON.stringify([listed, state.turn, calls, questions, tasks, schedules, [...state.notices.keys()], [...state.proposals.keys()]]);
}
