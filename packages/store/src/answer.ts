import {
  answerRefusal,
  type Draft,
  grantRefusal,
  isAnswerable,
  LedgerError,
  type LedgerEvent,
  SHARED,
  type SharedDraft,
} from "@assent/core";
import { sharedEpoch } from "./append.ts";
import { type Prepared, prepare, type Writing } from "./writing.ts";

/** One event for the shared chain, with what it says and what is stored of it. */
export type PreparedAnswer = { readonly event: SharedDraft; readonly prepared: Prepared };

/** What answering depends on besides the rows. */
export type AnswerFacts = {
  /** The later of the clock and the newest time in the ledger. */
  readonly now: () => string;
  readonly eventAt: (pos: number) => LedgerEvent | undefined;
};

/** The events as they will be stored; at least one. */
export function prepareAnswer(events: readonly SharedDraft[]): readonly PreparedAnswer[] {
  if (events.length === 0) throw new LedgerError("event_invalid", "An answer needs at least one event.");
  return events.map((event) => ({ event, prepared: prepare(event, isAnswerable) }));
}

/** Appends to the shared chain, all or none; what stands already wins. */
export function answer(
  writing: Writing,
  events: readonly PreparedAnswer[],
  facts: AnswerFacts,
): { readonly won: readonly LedgerEvent[] } | { readonly lost: LedgerEvent } {
  const won: LedgerEvent[] = [];
  for (const { event, prepared } of events) {
    const lost = isContested(event) ? standing(writing, event, facts) : undefined;
    if (lost) {
      writing.drop();
      return { lost };
    }
    won.push(writing.stage(SHARED, sharedEpoch(writing), prepared));
  }
  return { won };
}

type Contested = Exclude<SharedDraft, Draft<"trust.granted" | "trust.revoked">>;

/** Of trust the newest word counts; nothing stands in its way. */
function isContested(event: SharedDraft): event is Contested {
  return event.type !== "trust.granted" && event.type !== "trust.revoked";
}

/** What stands in the way of this event. Throws where there is nothing it could be about. */
function standing({ rows }: Writing, event: Contested, { now, eventAt }: AnswerFacts): LedgerEvent | undefined {
  const isGrant = "grant" in event.body;
  const id = isGrant ? event.body.grant : event.body.approval;
  const approval = isGrant ? undefined : rows.approvals.get(id);
  const grant = isGrant ? rows.grants.get(id) : undefined;
  const time = hasDeadline(approval?.row.expiresAt ?? grant?.row.expiresAt) ? now() : "";
  const refusal = answerRefusal(approval?.row, event, time) ?? grantRefusal(grant?.row, event, time);
  if (refusal === undefined) return undefined;
  const stands = refusal === "stands" ? eventAt((approval ?? grant)?.latest ?? 0) : undefined;
  if (stands) return stands;
  const type = refusal === "stands" ? "store_corrupt" : refusal;
  throw new LedgerError(type, `${event.type} of '${id}' cannot be stored: ${type}.`, { id });
}

function hasDeadline(expiresAt: string | null | undefined): boolean {
  return typeof expiresAt === "string";
}
