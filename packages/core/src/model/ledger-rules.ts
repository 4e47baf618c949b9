import { type Call, hasJudgement, isAsked, isRetry, mayBeUnderWay, nextOpen } from "./call.ts";
import type { EventBodies, LedgerEvent } from "./events.ts";
import { IllegalEvent } from "./fold.ts";
import { grantRowAt, hasPassed } from "./grant-row.ts";
import type { ApprovalRow, ClaimLost, GrantRow, QuestionRow, SharedDraft } from "./ledger-rows.ts";
import type { OutcomeState } from "./outcome.ts";
import type { ProposalRow } from "./proposal/proposal.ts";
import { isProposalEvent, nextProposal } from "./proposal/row.ts";
import { answeredQuestion, askedQuestion } from "./question/row.ts";

/** What a store remembers of a call between its proposal and its end. */
export type CallRow = Exclude<Call, { readonly state: "ended" }>;

/** The row after an event of the call, of either chain; undefined removes it (ended). Throws `IllegalEvent` for an event that the call's state does not allow. */
export function nextCallRow(row: CallRow | undefined, event: LedgerEvent): CallRow | undefined {
  const after = nextOpen(row, event);
  if (after === undefined) throw new IllegalEvent(event, row?.state ?? "none");
  return after === null || after.state === "ended" ? undefined : after;
}

/** The approval and the grant behind the consent in force, by id. */
export function answerSources(call: CallRow | undefined): { readonly approval: string | undefined; readonly grant: string | undefined } {
  if (call?.state !== "approved") return NOTHING;
  return { approval: call.approval ?? undefined, grant: call.yes.by === "grant" ? call.yes.id : undefined };
}

const NOTHING = Object.freeze({ approval: undefined, grant: undefined });

/** What a claim is compared with, read in the transaction that would store it. */
export type ClaimFacts = {
  readonly call: CallRow | undefined;
  /** The row of the approval that `answerSources` names. */
  readonly approval: ApprovalRow | undefined;
  /** The row of the grant that `answerSources` names. */
  readonly grant: GrantRow | undefined;
  /** Sequence of the session's newest `policy.changed`; 0: none. */
  readonly policySeq: number;
  /** The later of the clock and the newest `at` of the ledger. */
  readonly now: string;
  /** A durable ledger stores no claim without a fingerprint. */
  readonly durable: boolean;
};

/**
 * Why this claim may not be stored, or undefined.
 *
 * 1. the call is judged allow, or approved, and its newest verdict is no deny; a claimed one only as the keyed retry
 * 2. the answer named is the yes in force, unused, and the grant behind it still holds
 * 3. judged last, answered and claimed is one fingerprint
 * 4. no policy change since the newest judgement
 */
export function claimLoss(claimed: EventBodies["call.claimed"], facts: ClaimFacts): ClaimLost | undefined {
  const { call } = facts;
  if (!hasJudgement(call)) return "not_claimable";
  return stateLoss(call, claimed) ?? answerLoss(call, claimed.answer, facts) ?? requestLoss(call, claimed.fingerprint, facts);
}

type JudgedRow = Exclude<CallRow, { readonly state: "proposed" }>;

function stateLoss(call: JudgedRow, claimed: EventBodies["call.claimed"]): ClaimLost | undefined {
  if (mayBeUnderWay(call)) return isRetry(call, claimed) ? undefined : "already_claimed";
  return call.judged.verdict === "deny" || claimed.attempt !== 1 ? "not_claimable" : undefined;
}

function answerLoss(call: JudgedRow, named: { readonly pos: number } | null, facts: ClaimFacts): ClaimLost | undefined {
  if (mayBeUnderWay(call) && call.answer?.pos === named?.pos) return undefined;
  if (named === null) return call.state === "judged" && call.judged.verdict === "allow" ? undefined : "not_claimable";
  return call.state === "approved" && call.yes.pos === named.pos ? yesLoss(call, facts) : "answer_void";
}

function yesLoss(call: Extract<CallRow, { readonly state: "approved" }>, facts: ClaimFacts): ClaimLost | undefined {
  if (isOverruled(call)) return "answer_void";
  if (call.approval !== null && facts.approval?.state !== "approved") return "answer_void";
  if (facts.approval?.consumed) return "answer_consumed";
  return call.yes.by !== "grant" || grantHolds(facts) ? undefined : "grant_revoked";
}

/** Settings began to insist on a person after a grant or hook had said yes. */
function isOverruled({ judged, yes }: Extract<CallRow, { readonly state: "approved" }>): boolean {
  return judged.explicitAsk && (yes.by === "grant" || yes.by === "hook");
}

/** A use that this call took itself may have been the last one. */
function grantHolds({ grant, now }: ClaimFacts): boolean {
  const state = grant && grantRowAt(grant, now).state;
  return state === "active" || state === "used_up";
}

function requestLoss(call: JudgedRow, fingerprint: string | undefined, { policySeq, durable }: ClaimFacts): ClaimLost | undefined {
  if (fingerprint !== call.judged.fingerprint || (fingerprint === undefined && durable)) return "fingerprint_mismatch";
  if (call.state === "approved" && call.yes.covers !== fingerprint) return "fingerprint_mismatch";
  return call.judged.seq > policySeq ? undefined : "policy_changed";
}

/** The approval that an event changes, given its call's row before the event: its own events, the claim of its answer, the end of its call. */
export function approvalOf(event: LedgerEvent, call: CallRow | undefined): string | undefined {
  switch (event.type) {
    case "approval.opened":
    case "approval.answered":
    case "approval.closed":
      return event.body.approval;
    case "call.claimed":
    case "call.ended":
      return isAsked(call) ? (call.approval ?? undefined) : undefined;
    default:
      return undefined;
  }
}

/** The approval's row after an event that `approvalOf` relates to it; one that opens again has a higher revision. */
export function nextApprovalRow(row: ApprovalRow | undefined, event: LedgerEvent): ApprovalRow {
  if (event.type === "approval.opened") return openedRow(row, event);
  if (row === undefined) throw new IllegalEvent(event, "none");
  switch (event.type) {
    case "approval.answered": {
      const { outcome, by, reason, edited, fingerprint, remember = null } = event.body;
      if (by.kind === "grant" && row.explicitAsk) throw new IllegalEvent(event, "explicit ask");
      const covers = outcome === "approved" ? (edited?.fingerprint ?? fingerprint) : null;
      return { ...row, state: outcome, answeredBy: by, answeredAt: event.at, answerReason: reason, covers, remember };
    }
    case "approval.closed":
      return { ...row, state: event.body.outcome, covers: null };
    case "call.claimed":
      return { ...row, consumed: true };
    case "call.ended":
      return overtakenRow(row, event.body.outcome);
    default:
      throw new IllegalEvent(event, row.state);
  }
}

/** A call that ended leaves no open question. */
function overtakenRow(row: ApprovalRow, outcome: OutcomeState): ApprovalRow {
  if (row.consumed || (row.state !== "open" && row.state !== "approved")) return row;
  return { ...row, state: outcome === "expired" || outcome === "denied" ? outcome : "cancelled", covers: null };
}

function openedRow(row: ApprovalRow | undefined, event: LedgerEvent<"approval.opened">): ApprovalRow {
  const { approval, ...shown } = event.body;
  const again =
    row === undefined || (row.session === event.session && row.call === shown.call && row.revision < shown.revision && !row.consumed);
  if (!again) throw new IllegalEvent(event, row.state);
  return {
    ...shown,
    id: approval,
    session: event.session,
    requestedAt: row?.requestedAt ?? event.at,
    state: "open",
    answeredBy: null,
    answeredAt: null,
    answerReason: null,
    covers: null,
    remember: null,
    consumed: false,
  };
}

/** May this answer or close be stored now? "stands": something did already, or the deadline did, and wins. Other events are none of its business. */
export function answerRefusal(
  row: ApprovalRow | undefined,
  event: SharedDraft,
  now: string,
): "unknown_approval" | "stale_revision" | "stands" | undefined {
  if (event.type !== "approval.answered" && event.type !== "approval.closed") return undefined;
  const { body } = event;
  if (row === undefined || row.session !== body.session || row.call !== body.call) return "unknown_approval";
  const takesBack = event.type === "approval.closed" && event.body.outcome !== "expired" && row.state === "approved" && !row.consumed;
  if (row.state !== "open" && !takesBack) return "stands";
  if (body.revision !== row.revision || ("fingerprint" in body && body.fingerprint !== row.fingerprint)) return "stale_revision";
  return body.outcome === "approved" && hasPassed(row.expiresAt, now) ? "stands" : undefined;
}

/** The proposal's row after one of its events. Throws `IllegalEvent` for an event that its state does not allow, or that comes from another session. */
export function nextProposalRow(row: ProposalRow | undefined, event: LedgerEvent): ProposalRow {
  const after = isProposalEvent(event) ? nextProposal(row, event) : undefined;
  if (after === undefined) throw new IllegalEvent(event, row?.state ?? "none");
  return after;
}

/** May this wish be stored? There may be any number of them; each is bound to what was shown. Other events are none of its business. */
export function proposalRefusal(row: ProposalRow | undefined, event: SharedDraft): "proposal_not_found" | "stale_revision" | undefined {
  if (event.type !== "proposal.requested") return undefined;
  if (row === undefined || row.session !== event.body.session) return "proposal_not_found";
  return event.body.digest === row.digest ? undefined : "stale_revision";
}

/** The question's row after it was asked, answered, or left open by the end of its call. `call` is the row of the call that asks: only one that runs may. */
export function nextQuestionRow(row: QuestionRow | undefined, event: LedgerEvent, call: CallRow | undefined): QuestionRow {
  const after = changedQuestion(row, event, call);
  if (after === undefined) throw new IllegalEvent(event, row?.state ?? "none");
  return after;
}

function changedQuestion(row: QuestionRow | undefined, event: LedgerEvent, call: CallRow | undefined): QuestionRow | undefined {
  switch (event.type) {
    case "question.asked":
      return row === undefined && mayBeUnderWay(call) ? askedQuestion(event) : undefined;
    case "question.answered":
      return row?.session === event.body.session ? answeredQuestion(row, event) : undefined;
    case "call.ended":
      return row && (row.state === "open" ? { ...row, state: "cancelled" } : row);
    default:
      return undefined;
  }
}

/** May this answer to a question be stored? "stands": there is one, or its call has ended. Other events are none of its business. */
export function questionRefusal(row: QuestionRow | undefined, event: SharedDraft): "unknown_approval" | "stands" | undefined {
  if (event.type !== "question.answered") return undefined;
  if (row === undefined || row.session !== event.body.session) return "unknown_approval";
  return row.state === "open" ? undefined : "stands";
}
