import { type Call, mayBeUnderWay, nextOpen } from "./call.ts";
import { type EventBodies, type LedgerEvent, SHARED } from "./events.ts";
import { type CallEvent, isCallEvent } from "./known-event.ts";
import type { QuestionRow } from "./ledger-rows.ts";
import type { ProposalEvent, ProposalRow } from "./proposal/proposal.ts";
import { isOpenProposal, isProposalEvent, nextProposal } from "./proposal/row.ts";
import { answeredQuestion, askedQuestion } from "./question/row.ts";
import {
  isScheduleEvent,
  isTaskEvent,
  nextSchedule,
  nextTask,
  type ScheduleEvent,
  type ScheduleRow,
  type TaskEvent,
  type TaskRow,
} from "./task/row.ts";

/** The state of a session that later decisions depend on. */
export type SessionState = {
  /** Of the session's own chain. */
  seq: number;
  /** Position up to which the shared chain is folded. */
  shared: number;
  /** The newest time of any event, so that setting the clock back extends no deadline. */
  at: string;
  created: EventBodies["session.created"] | undefined;
  closed: EventBodies["session.closed"] | undefined;
  mode: string;
  model: string | null;
  policy: string;
  turn: number;
  openTurn: number | null;
  /** Null outside plan mode. */
  planning: EventBodies["mode.changed"]["planning"] | null;
  /** Staged or being applied, oldest first. */
  readonly proposals: Map<string, ProposalRow>;
  /** The newest proposal, if it was lost with its process. */
  lost: ProposalRow | undefined;
  readonly questions: Map<string, QuestionRow>;
  /** Not delivered to the model yet, oldest first. */
  readonly notices: Map<string, EventBodies["notice.queued"]>;
  /** Unfinished, oldest first. */
  readonly tasks: Map<string, TaskRow>;
  readonly schedules: Map<string, ScheduleRow>;
  readonly calls: Map<string, Call>;
  /** How often each id was used; an id that is not in `calls` has ended. */
  readonly ids: Map<string, number>;
  /** Fingerprints of unsafe calls that ended `unknown` and that no person has reviewed since. */
  readonly unknown: Set<string>;
  /** Fingerprints a person rejected since the last user message. */
  readonly rejected: Set<string>;
};

/** Thrown for an event that is not legal in the current state; the record is corrupt. */
export class IllegalEvent extends Error {
  readonly seq: number;
  readonly type: string;
  readonly state: string;
  constructor(event: { readonly seq: number; readonly type: string; readonly session: string }, state: string) {
    super(`Event ${event.type} at ${event.session}:${event.seq} is not legal in state '${state}'.`);
    this.name = "IllegalEvent";
    this.seq = event.seq;
    this.type = event.type;
    this.state = state;
  }
}

/** The state before the first event. */
export function emptySession(): SessionState {
  return {
    seq: 0,
    shared: 0,
    at: "",
    created: undefined,
    closed: undefined,
    mode: "default",
    model: null,
    policy: "",
    turn: 0,
    openTurn: null,
    planning: null,
    proposals: new Map(),
    lost: undefined,
    questions: new Map(),
    notices: new Map(),
    tasks: new Map(),
    schedules: new Map(),
    calls: new Map(),
    ids: new Map(),
    unknown: new Set(),
    rejected: new Set(),
  };
}

/** Folds an event into the state; an illegal one throws `IllegalEvent` and changes nothing. */
export function fold(state: SessionState, event: LedgerEvent): void {
  if (isCallEvent(event)) foldCall(state, event);
  else if (isProposalEvent(event)) foldProposal(state, event);
  else if (isTaskEvent(event)) foldTask(state, event);
  else if (isScheduleEvent(event)) foldSchedule(state, event);
  else foldSession(state, event);
  if (event.at > state.at) state.at = event.at;
  if (event.session === SHARED) state.shared = event.pos;
  else state.seq = event.seq;
}

function foldCall(state: SessionState, event: CallEvent): void {
  const id = event.body.call;
  const before = state.calls.get(id);
  if (event.type === "call.proposed" && state.ids.has(id)) throw new IllegalEvent(event, before?.state ?? "ended");
  const after = nextOpen(before, event);
  if (after === undefined) throw new IllegalEvent(event, before?.state ?? (state.ids.has(id) ? "ended" : "none"));
  if (event.type === "call.proposed") {
    countId(state, event.body);
    state.turn = Math.max(state.turn, event.body.turn);
  }
  if (after) state.calls.set(id, after);
  else forget(state, id);
  remember(state, before, event);
}

function forget(state: SessionState, id: string): void {
  state.calls.delete(id);
  if (state.questions.size === 0) return;
  for (const { id: question, callId } of state.questions.values()) if (callId === id) state.questions.delete(question);
}

/** Legal for a settled proposal, which is only in the ledger's list. */
const ELSEWHERE: readonly LedgerEvent["type"][] = [
  "proposal.undoing",
  "proposal.undone",
  "proposal.requested",
  "proposal.refused",
  "proposal.reminded",
  "proposal.unheeded",
  "proposal.parked",
];

function foldProposal(state: SessionState, event: ProposalEvent): void {
  const id = event.body.proposal;
  const before = state.proposals.get(id);
  if (!before && ELSEWHERE.includes(event.type)) return;
  const after = nextProposal(before, event);
  if (!after) throw new IllegalEvent(event, before?.state ?? "none");
  if (isOpenProposal(after)) state.proposals.set(id, after);
  else state.proposals.delete(id);
  if (event.type === "proposal.staged") state.lost = undefined;
  if (after.cause === "lost") state.lost = after;
}

function foldTask(state: SessionState, event: TaskEvent): void {
  const id = event.body.task;
  keep(state.tasks, { id, event, next: nextTask(state.tasks.get(id), event) });
  if (event.type === "task.ended" && event.body.unknown !== undefined) state.unknown.add(event.body.unknown);
}

function foldSchedule(state: SessionState, event: ScheduleEvent): void {
  const id = event.body.schedule;
  keep(state.schedules, { id, event, next: nextSchedule(state.schedules.get(id), event) });
}

/** Null removes the row; undefined means that the event is illegal. */
function keep<Row>(rows: Map<string, Row>, { id, event, next }: { id: string; event: LedgerEvent; next: Row | null | undefined }): void {
  if (next === undefined) throw new IllegalEvent(event, rows.has(id) ? "there" : "none");
  if (next === null) rows.delete(id);
  else rows.set(id, next);
}

function foldQuestion(state: SessionState, event: LedgerEvent<"question.asked" | "question.answered">): void {
  const row = state.questions.get(event.body.question);
  if (event.type === "question.asked") {
    if (row) throw new IllegalEvent(event, row.state);
    state.questions.set(event.body.question, askedQuestion(event));
    return;
  }
  if (!row) return;
  const answered = answeredQuestion(row, event);
  if (!answered) throw new IllegalEvent(event, row.state);
  state.questions.set(row.id, answered);
}

function countId(state: SessionState, { call, givenId }: EventBodies["call.proposed"]): void {
  state.ids.set(call, 1);
  if (givenId !== null && givenId !== call) state.ids.set(givenId, (state.ids.get(givenId) ?? 0) + 1);
}

function remember(state: SessionState, before: Call | undefined, event: LedgerEvent): void {
  if (event.type === "approval.answered" && event.body.by.kind !== "grant") {
    state.unknown.delete(event.body.fingerprint);
    if (event.body.outcome === "rejected") state.rejected.add(event.body.fingerprint);
  }
  if (event.type !== "call.ended" || event.body.outcome !== "unknown" || !mayBeUnderWay(before)) return;
  const { fingerprint, safe } = before.judged;
  if (fingerprint !== undefined && !safe) state.unknown.add(fingerprint);
}

type SessionEvent = Exclude<LedgerEvent, CallEvent | ProposalEvent | TaskEvent | ScheduleEvent>;

function foldSession(state: SessionState, event: SessionEvent): void {
  switch (event.type) {
    case "session.created":
      if (state.created) throw new IllegalEvent(event, "created");
      state.created = event.body;
      state.mode = event.body.mode;
      state.model = event.body.model;
      state.policy = event.body.policy;
      break;
    case "session.opened":
      state.closed = undefined;
      break;
    case "session.closed":
      state.closed = event.body;
      break;
    case "mode.changed":
      state.mode = event.body.to;
      state.planning = event.body.planning ?? null;
      break;
    case "turn.started":
      state.turn = event.body.turn;
      state.openTurn = event.body.turn;
      break;
    case "turn.ended":
      state.openTurn = null;
      break;
    case "message.user":
      if (event.body.origin === "user") state.rejected.clear();
      break;
    case "notice.queued":
      state.notices.set(event.body.notice, event.body);
      break;
    case "notice.delivered":
    case "notice.dropped":
      for (const id of event.body.ids) state.notices.delete(id);
      break;
    case "question.asked":
    case "question.answered":
      foldQuestion(state, event);
      break;
    case "model.changed":
      state.model = event.body.to;
      break;
    case "policy.changed":
      state.policy = event.body.revision;
      break;
    case "message.assistant":
    case "history.compacted":
    case "hook.ran":
    case "preview.started":
    case "preview.ended":
    case "grant.created":
    case "grant.used":
    case "grant.revoked":
    case "trust.granted":
    case "trust.revoked":
    case "cancel.requested":
    case "notification.sent":
    case "store.created":
    case "store.epoch":
    case "store.migrated":
    case "store.checkpoint":
    case "store.snapshot":
    case "store.repaired":
    case "store.restored":
    case "store.pruned":
    case "session.registered":
      break; // no later decision depends on these
    default:
      event satisfies never;
  }
}
