import type { Draft, EventType, LedgerEvent, StoredEvent } from "./events.ts";
import type { SharedDraft } from "./ledger-rows.ts";
import type { TaskProcess } from "./task/events.ts";

/** The type requires `anyone` for exactly the events of the shared chain. */
const APPENDED_BY: { readonly [T in EventType]: T extends SharedDraft["type"] ? "anyone" : "writer" | "store" } = {
  "session.created": "writer",
  "session.opened": "writer",
  "session.closed": "writer",
  "mode.changed": "writer",
  "model.changed": "writer",
  "policy.changed": "writer",
  "call.proposed": "writer",
  "call.judged": "writer",
  "approval.opened": "writer",
  "call.answered": "writer",
  "call.claimed": "store",
  "call.started": "writer",
  "call.ended": "writer",
  "hook.ran": "writer",
  "preview.started": "writer",
  "preview.ended": "writer",
  "turn.started": "writer",
  "message.user": "writer",
  "message.assistant": "writer",
  "turn.ended": "writer",
  "notice.queued": "writer",
  "notice.delivered": "writer",
  "notice.dropped": "writer",
  "history.compacted": "writer",
  "task.started": "writer",
  "task.process": "writer",
  "task.message": "writer",
  "task.cancelling": "writer",
  "task.paused": "writer",
  "task.resumed": "writer",
  "task.ended": "writer",
  "schedule.created": "writer",
  "schedule.fired": "writer",
  "schedule.removed": "writer",
  "question.asked": "writer",
  "proposal.staged": "writer",
  "proposal.applying": "writer",
  "proposal.applied": "writer",
  "proposal.apply_failed": "writer",
  "proposal.discarded": "writer",
  "proposal.stale": "writer",
  "proposal.superseded": "writer",
  "proposal.unknown": "writer",
  "proposal.undoing": "writer",
  "proposal.undone": "writer",
  "proposal.reminded": "writer",
  "proposal.unheeded": "writer",
  "proposal.parked": "writer",
  "proposal.refused": "writer",
  "approval.answered": "anyone",
  "approval.closed": "anyone",
  "grant.created": "anyone",
  "grant.used": "anyone",
  "grant.revoked": "anyone",
  "trust.granted": "anyone",
  "trust.revoked": "anyone",
  "proposal.requested": "anyone",
  "cancel.requested": "anyone",
  "question.answered": "anyone",
  "notification.sent": "anyone",
  "store.created": "store",
  "store.epoch": "store",
  "store.migrated": "store",
  "store.checkpoint": "store",
  "store.snapshot": "store",
  "store.repaired": "store",
  "store.restored": "store",
  "store.pruned": "store",
  "session.registered": "store",
};

const BY_TYPE: ReadonlyMap<string, "writer" | "anyone" | "store"> = new Map(Object.entries(APPENDED_BY));

/** Every event type of this version. */
export const EVENT_TYPES: readonly EventType[] = Object.freeze([...BY_TYPE.keys()].filter(isEventType));

function isEventType(type: string): type is EventType {
  return BY_TYPE.has(type);
}

/** True for events that a session's writer may append. */
export function isAppendable(type: string): boolean {
  return BY_TYPE.get(type) === "writer";
}

/** True for events that any process may append to the shared chain. */
export function isAnswerable(type: string): boolean {
  return BY_TYPE.get(type) === "anyone";
}

/** The event; undefined if its type or version is newer than this program. */
export function parseEvent(stored: StoredEvent): LedgerEvent | undefined {
  // Stores keep bodies as this program wrote them, and `v` names their shape.
  return stored.v === 1 && BY_TYPE.has(stored.type) ? (stored as unknown as LedgerEvent) : undefined;
}

/**
 * The session that a shared event names. Trust, snapshots and notifications use `trust:WORKSPACE`, `snapshot:SESSION` and
 * `notification:SESSION`, which are not valid session names.
 */
export function namedSession(event: { readonly type: string; readonly body: object }): string | undefined {
  switch (event.type) {
    case "approval.answered":
    case "approval.closed":
    case "grant.created":
    case "grant.used":
    case "proposal.requested":
    case "cancel.requested":
    case "question.answered":
      return text(event.body, "session");
    case "trust.granted":
    case "trust.revoked":
      return `trust:${text(event.body, "workspace") ?? ""}`;
    case "notification.sent":
      return `notification:${text(event.body, "session") ?? ""}`;
    case "store.snapshot":
      return snapshotName(text(event.body, "session") ?? "");
    default:
      return undefined;
  }
}

/** The name that indexes a session's snapshots. */
export function snapshotName(session: string): string {
  return `snapshot:${session}`;
}

/** The call an event mentions. */
export function callOf(event: { readonly body: object }): string | undefined {
  return text(event.body, "call");
}

/** True for an event that records the start of a process with this id. */
export function recordsProcess({ type, body }: { readonly type: string; readonly body: object }, pid: number): boolean {
  if (type !== "call.started" && type !== "task.process") return false;
  const { others = [], ...first } = body as TaskProcess; // events of these types have this body
  return [first, ...others].some((one) => one.pid === pid);
}

/** An event that changes the state of a call; other events may mention a call after its end. */
export type CallEvent = LedgerEvent<
  | "call.proposed"
  | "call.judged"
  | "call.answered"
  | "call.claimed"
  | "call.started"
  | "call.ended"
  | "approval.opened"
  | "approval.answered"
  | "approval.closed"
>;

export function isCallEvent(event: LedgerEvent): event is CallEvent {
  return lifecycleCallOf(event) !== undefined;
}

/** The call whose state an event changes. */
export function lifecycleCallOf(event: LedgerEvent): string | undefined {
  switch (event.type) {
    case "call.proposed":
    case "call.judged":
    case "call.claimed":
    case "call.ended":
    case "approval.opened":
    case "call.answered":
    case "call.started":
    case "approval.answered":
    case "approval.closed":
      return event.body.call;
    default:
      event satisfies Exclude<LedgerEvent, CallEvent>;
      return undefined;
  }
}

/** SHA-256 (hex) of the contents that an event keeps stored. */
export function contentsOf(event: Draft): readonly string[] {
  return event.type === "proposal.staged" || event.type === "preview.ended" ? event.body.contents : NONE;
}

const NONE: readonly string[] = Object.freeze([]);

function text(body: object, key: "session" | "call" | "workspace"): string | undefined {
  const value: unknown = Reflect.get(body, key);
  return typeof value === "string" ? value : undefined;
}
