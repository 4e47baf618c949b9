import type { Draft, EventType, LedgerEvent, StoredEvent } from "./events.ts";
import type { SharedDraft } from "./ledger-rows.ts";

const LISTED = [
  "session.created",
  "session.opened",
  "session.closed",
  "mode.changed",
  "model.changed",
  "policy.changed",
  "call.proposed",
  "call.judged",
  "approval.opened",
  "call.answered",
  "call.claimed",
  "call.started",
  "call.ended",
  "hook.ran",
  "turn.started",
  "message.user",
  "message.assistant",
  "turn.ended",
  "notice.queued",
  "notice.delivered",
  "notice.dropped",
  "history.compacted",
  "task.started",
  "task.process",
  "task.message",
  "task.cancelling",
  "task.paused",
  "task.resumed",
  "task.ended",
  "schedule.created",
  "schedule.fired",
  "schedule.removed",
  "question.asked",
  "proposal.staged",
  "proposal.applying",
  "proposal.applied",
  "proposal.apply_failed",
  "proposal.discarded",
  "proposal.stale",
  "proposal.superseded",
  "proposal.unknown",
  "proposal.undone",
  "proposal.reminded",
  "proposal.unheeded",
  "proposal.parked",
  "proposal.refused",
  "approval.answered",
  "approval.closed",
  "grant.created",
  "grant.used",
  "grant.revoked",
  "trust.granted",
  "trust.revoked",
  "proposal.requested",
  "question.answered",
  "store.created",
  "store.epoch",
  "store.migrated",
  "store.checkpoint",
  "store.repaired",
  "store.restored",
  "store.pruned",
  "session.registered",
] as const satisfies readonly EventType[];

/** The compiler's word that no type is missing from the list. */
type Complete = Exclude<EventType, (typeof LISTED)[number]> extends never ? readonly EventType[] : never;

/** Every event type this version reads and writes, as they stand on disk. */
export const EVENT_TYPES: readonly EventType[] = Object.freeze<Complete>(LISTED);

const KNOWN: ReadonlySet<string> = new Set(EVENT_TYPES);

const OWN: ReadonlySet<string> = new Set<EventType>([
  "session.created",
  "session.opened",
  "session.closed",
  "mode.changed",
  "model.changed",
  "policy.changed",
  "call.proposed",
  "call.judged",
  "approval.opened",
  "call.answered",
  "call.started",
  "call.ended",
  "hook.ran",
  "turn.started",
  "message.user",
  "message.assistant",
  "turn.ended",
  "notice.queued",
  "notice.delivered",
  "notice.dropped",
  "history.compacted",
  "task.started",
  "task.process",
  "task.message",
  "task.cancelling",
  "task.paused",
  "task.resumed",
  "task.ended",
  "schedule.created",
  "schedule.fired",
  "schedule.removed",
  "question.asked",
  "proposal.staged",
  "proposal.applying",
  "proposal.applied",
  "proposal.apply_failed",
  "proposal.discarded",
  "proposal.stale",
  "proposal.superseded",
  "proposal.unknown",
  "proposal.undone",
  "proposal.reminded",
  "proposal.unheeded",
  "proposal.parked",
  "proposal.refused",
]);

const ANSWERS: ReadonlySet<string> = new Set<SharedDraft["type"]>([
  "approval.answered",
  "approval.closed",
  "grant.created",
  "grant.used",
  "grant.revoked",
  "trust.granted",
  "trust.revoked",
  "proposal.requested",
  "question.answered",
]);

/** What a session's writer may append to its chain. A claim is none of these: it has a door of its own, and no way around it. */
export function isAppendable(type: string): boolean {
  return OWN.has(type);
}

/** What any process may append to the shared chain. */
export function isAnswerable(type: string): boolean {
  return ANSWERS.has(type);
}

/** The event if this program understands its type and version; a newer one is kept by the store and skipped by the fold. */
export function knownEvent(stored: StoredEvent): LedgerEvent | undefined {
  // Parsing: the store keeps bodies as this program wrote them, and v names their shape.
  return stored.v === 1 && KNOWN.has(stored.type) ? (stored as unknown as LedgerEvent) : undefined;
}

/** The session that an event of the shared chain names: its fold takes the event in. Trust names its workspace the same way, so that it is found without a search; no session has a name like it. */
export function naming(event: { readonly type: string; readonly body: object }): string | undefined {
  switch (event.type) {
    case "approval.answered":
    case "approval.closed":
    case "grant.created":
    case "grant.used":
    case "proposal.requested":
    case "question.answered":
      return text(event.body, "session");
    case "trust.granted":
    case "trust.revoked":
      return `trust:${text(event.body, "workspace") ?? ""}`;
    default:
      return undefined;
  }
}

/** The call an event speaks of, whichever chain it is in. */
export function callOf(event: { readonly body: object }): string | undefined {
  return text(event.body, "call");
}

/** Events that speak of a call and change nothing about it: some come after its end. */
const MENTIONS: ReadonlySet<string> = new Set<EventType>(["grant.used", "task.started", "notice.queued"]);

/** The call whose life an event is part of. */
export function livedCall(event: { readonly type: string; readonly body: object }): string | undefined {
  return MENTIONS.has(event.type) ? undefined : callOf(event);
}

/** SHA-256 (hex) of the contents that are kept beside an event, for as long as there is an event that names them. */
export function contentsOf(event: Draft): readonly string[] {
  return event.type === "proposal.staged" ? event.body.contents : NONE;
}

const NONE: readonly string[] = Object.freeze([]);

function text(body: object, key: "session" | "call" | "workspace"): string | undefined {
  const value: unknown = Reflect.get(body, key);
  return typeof value === "string" ? value : undefined;
}
