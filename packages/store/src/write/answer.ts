import {
  answerRefusal,
  type ContestedDraft,
  grantRefusal,
  isAnswerable,
  isContested,
  LedgerError,
  type LedgerErrorType,
  type LedgerEvent,
  proposalRefusal,
  questionRefusal,
  SHARED,
  type SharedDraft,
} from "@assent/core";
import type { Rows } from "../rows/rows.ts";
import { sharedEpoch } from "./append.ts";
import { type EventStaging, type PreparedEvent, prepareEvent } from "./staging.ts";

export type PreparedAnswer = { readonly event: SharedDraft; readonly prepared: PreparedEvent };

export type AnswerFacts = {
  /** Never earlier than the newest time in the ledger. */
  readonly now: () => string;
  readonly eventAt: (pos: number) => LedgerEvent | undefined;
};

export function prepareAnswer(events: readonly SharedDraft[]): readonly PreparedAnswer[] {
  if (events.length === 0) throw new LedgerError("event_invalid", "An answer needs at least one event.");
  return events.map((event) => ({ event, prepared: prepareEvent(event, isAnswerable) }));
}

/** All or nothing. An earlier answer wins. */
export function answer(
  writing: EventStaging,
  events: readonly PreparedAnswer[],
  facts: AnswerFacts,
): { readonly won: readonly LedgerEvent[] } | { readonly lost: LedgerEvent } {
  const won: LedgerEvent[] = [];
  for (const { event, prepared } of events) {
    const lost = isContested(event) ? findEarlierAnswer(writing, event, facts) : undefined;
    if (lost) {
      writing.drop();
      return { lost };
    }
    won.push(writing.stage(SHARED, sharedEpoch(writing), prepared));
  }
  return { won };
}

/** Throws if the target does not exist. */
function findEarlierAnswer({ rows }: EventStaging, event: ContestedDraft, { now, eventAt }: AnswerFacts): LedgerEvent | undefined {
  const { id, refusal, latest = 0 } = findTarget(rows, event, now);
  if (refusal === undefined) return undefined;
  const earlier = refusal === "too_late" ? eventAt(latest) : undefined;
  if (earlier) return earlier;
  const type = refusal === "too_late" ? "store_corrupt" : refusal;
  throw new LedgerError(type, `${event.type} of '${id}' cannot be stored: ${type}.`, { id });
}

type AnswerTarget = {
  readonly id: string;
  readonly refusal: LedgerErrorType | "too_late" | undefined;
  readonly latest: number | undefined;
};

/** Reads the time only if the row has a deadline. */
function findTarget(rows: Rows, event: ContestedDraft, now: () => string): AnswerTarget {
  const { body } = event;
  if ("proposal" in body) {
    const proposal = rows.proposals.get(body.proposal);
    return { id: body.proposal, refusal: proposalRefusal(proposal?.row, event), latest: proposal?.latest };
  }
  if ("question" in body) {
    const question = rows.questions.get(body.question);
    return { id: body.question, refusal: questionRefusal(question?.row, event), latest: question?.latest };
  }
  if ("grant" in body) {
    const grant = rows.grants.get(body.grant);
    return { id: body.grant, refusal: grantRefusal(grant?.row, event, timeFor(grant?.row, now)), latest: grant?.latest };
  }
  const approval = rows.approvals.get(body.approval);
  return { id: body.approval, refusal: answerRefusal(approval?.row, event, timeFor(approval?.row, now)), latest: approval?.latest };
}

function timeFor(row: { readonly expiresAt?: string | null } | undefined, now: () => string): string {
  return typeof row?.expiresAt === "string" ? now() : "";
}
