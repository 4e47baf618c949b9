import type { Call } from "./call.ts";
import type { EventBodies } from "./events.ts";
import type { SessionState } from "./fold.ts";
import { isObject, type Json } from "./json/json.ts";
import type { QuestionRow } from "./ledger-rows.ts";
import type { ProposalRow } from "./proposal/proposal.ts";
import type { ScheduleRow, TaskRow } from "./task/row.ts";

/** Increase it when the stored state changes shape; older snapshots are then ignored. */
const SNAPSHOT_VERSION = 5;

/** Serializes the state, to shorten the next opening. */
export function toSnapshot(state: SessionState): Json {
  const { seq, shared, at, created, closed, mode, model, policy, turn, openTurn, planning, lost } = state;
  const plain = {
    version: SNAPSHOT_VERSION,
    seq,
    shared,
    at,
    created: created ?? null,
    closed: closed ?? null,
    mode,
    model,
    policy,
    turn,
    openTurn,
    planning: planning ?? null,
    lost: lost ?? null,
    proposals: [...state.proposals.values()],
    questions: [...state.questions.values()],
    notices: [...state.notices.values()],
    tasks: [...state.tasks.values()],
    schedules: [...state.schedules.values()],
    calls: [...state.calls.values()],
    ids: [...state.ids],
    unknown: [...state.unknown],
    rejected: [...state.rejected],
  };
  return plain as unknown as Json;
}

const LISTS = ["calls", "ids", "unknown", "rejected", "proposals", "questions", "notices", "tasks", "schedules"] as const;

/** Undefined if the snapshot is not valid, so the events must be folded. */
export function fromSnapshot(value: Json): SessionState | undefined {
  if (!isObject(value) || value["version"] !== SNAPSHOT_VERSION) return undefined;
  if (!LISTS.every((key) => Array.isArray(value[key])) || !Number.isInteger(value["seq"])) return undefined;
  const stored = value as unknown as StoredState;
  return {
    seq: stored.seq,
    shared: stored.shared,
    at: stored.at,
    created: stored.created ?? undefined,
    closed: stored.closed ?? undefined,
    mode: stored.mode,
    model: stored.model,
    policy: stored.policy,
    turn: stored.turn,
    openTurn: stored.openTurn,
    planning: stored.planning,
    lost: stored.lost ?? undefined,
    proposals: new Map(stored.proposals.map((row) => [row.id, row])),
    questions: new Map(stored.questions.map((row) => [row.id, row])),
    notices: new Map(stored.notices.map((notice) => [notice.notice, notice])),
    tasks: new Map(stored.tasks.map((row) => [row.task, row])),
    schedules: new Map(stored.schedules.map((row) => [row.schedule, row])),
    calls: new Map(stored.calls.map((call) => [call.callId, call] as const)),
    ids: new Map(stored.ids),
    unknown: new Set(stored.unknown),
    rejected: new Set(stored.rejected),
  };
}

type StoredState = Pick<SessionState, "seq" | "shared" | "at" | "mode" | "model" | "policy" | "turn" | "openTurn" | "planning"> & {
  readonly created: EventBodies["session.created"] | null;
  readonly closed: EventBodies["session.closed"] | null;
  readonly lost: ProposalRow | null;
  readonly proposals: readonly ProposalRow[];
  readonly questions: readonly QuestionRow[];
  readonly notices: readonly EventBodies["notice.queued"][];
  readonly tasks: readonly TaskRow[];
  readonly schedules: readonly ScheduleRow[];
  readonly calls: readonly Call[];
  readonly ids: readonly (readonly [string, number])[];
  readonly unknown: readonly string[];
  readonly rejected: readonly string[];
};
