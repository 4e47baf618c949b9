import { type Call, hasJudgement, isAsked, isRetry, mayBeUnderWay, nextOpen } from "./call.ts";
import type { Draft, EventBodies, LedgerEvent } from "./events.ts";
import { IllegalEvent } from "./fold.ts";
import { grantRowAt, hasPassed } from "./grant-row.ts";
import type { ApprovalRow, ClaimLost, GrantRow, QuestionRow, SharedDraft } from "./ledger-rows.ts";
import type { OutcomeState } from "./outcome.ts";
import type { ProposalRow } from "./proposal/proposal.ts";
import { isProposalEvent, nextProposal } from "./proposal/row.ts";
import { answeredQuestion, askedQuestion } from "./question/row.ts";

/** What a store keeps of a call between its proposal and its end. */
export type CallRow = Exclude<Call, { readonly state: "ended" }>;

/** The row after an event of the call, in either chain; undefined once ended. Throws `IllegalEvent`. */
export function nextCallRow(row: CallRow | undefined, event: LedgerEvent): CallRow | undefined {
  const after = nextOpen(row, event);
  if (after === undefined) throw new IllegalEvent(event, row?.state ?? "none");
  return after === null || after.state === "ended" ? undefined : after;
}

/** The ids of the approval and the grant behind the consent in force. */
export function answerSources(call: CallRow | undefined): { readonly approval: string | undefined; readonly grant: string | undefined } {
  if (call?.state !== "approved") return NOTHING;
  return { approval: call.approval ?? undefined, grant: call.consent.by === "grant" ? call.consent.id : undefined };
}

const NOTHING = Object.freeze({ approval: undefined, grant: undefined });

/** What a claim is checked against, read in the transaction that stores it. */
export type ClaimFacts = {
  readonly call: CallRow | undefined;
  /** The approval named by `answerSources`. */
  readonly approval: ApprovalRow | undefined;
  /** The grant named by `answerSources`. */
  readonly grant: GrantRow | undefined;
  /** Sequence of the session's newest `policy.changed`; 0 if none. */
  readonly policySeq: number;
  /** The later of the clock and the ledger's newest `at`. */
  readonly now: string;
  /** A durable ledger stores no claim without a fingerprint. */
  readonly durable: boolean;
};

/**
 * Why this claim may not be stored, or undefined.
 *
 * 1. The call must be judged allow, or approved and not denied since; a claimed call only as the keyed retry.
 * 2. The named answer must be the unused consent in force, and its grant must still hold.
 * 3. The fingerprints judged last, answered and claimed must be equal.
 * 4. The policy must not have changed since the newest judgement.
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
  return call.state === "approved" && call.consent.pos === named.pos ? consentLoss(call, facts) : "answer_void";
}

function consentLoss(call: Extract<CallRow, { readonly state: "approved" }>, facts: ClaimFacts): ClaimLost | undefined {
  if (isOverruled(call)) return "answer_void";
  if (call.approval !== null && facts.approval?.state !== "approved") return "answer_void";
  if (facts.approval?.consumed) return "answer_consumed";
  return call.consent.by !== "grant" || grantHolds(facts) ? undefined : "grant_revoked";
}

/** Settings began to require a person after a grant or hook had consented. */
function isOverruled({ judged, consent }: Extract<CallRow, { readonly state: "approved" }>): boolean {
  return judged.explicitAsk && (consent.by === "grant" || consent.by === "hook");
}

/** The last use may be the one this call took. */
function grantHolds({ grant, now }: ClaimFacts): boolean {
  const state = grant && grantRowAt(grant, now).state;
  return state === "active" || state === "used_up";
}

function requestLoss(call: JudgedRow, fingerprint: string | undefined, { policySeq, durable }: ClaimFacts): ClaimLost | undefined {
  if (fingerprint !== call.judged.fingerprint || (fingerprint === undefined && durable)) return "fingerprint_mismatch";
  if (call.state === "approved" && call.consent.covers !== fingerprint) return "fingerprint_mismatch";
  return call.judged.seq > policySeq ? undefined : "policy_changed";
}

/** The approval an event changes, given the call's row before it: by its own events, the claim, or the end of the call. */
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

/** The approval's row after an event that `approvalOf` relates to it. */
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

/** A call that ended leaves no open approval. */
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

/** Why this answer or close cannot be stored now; "too_late" means that an earlier one or the deadline wins. */
export function answerRefusal(
  row: ApprovalRow | undefined,
  event: SharedDraft,
  now: string,
): "unknown_approval" | "stale_revision" | "too_late" | undefined {
  if (event.type !== "approval.answered" && event.type !== "approval.closed") return undefined;
  const { body } = event;
  if (row === undefined || row.session !== body.session || row.call !== body.call) return "unknown_approval";
  const takesBack = event.type === "approval.closed" && event.body.outcome !== "expired" && row.state === "approved" && !row.consumed;
  if (row.state !== "open" && !takesBack) return "too_late";
  if (body.revision !== row.revision || ("fingerprint" in body && body.fingerprint !== row.fingerprint)) return "stale_revision";
  return body.outcome === "approved" && hasPassed(row.expiresAt, now) ? "too_late" : undefined;
}

/** An answer that an earlier one may prevent. */
export type ContestedDraft = Exclude<SharedDraft, Draft<"trust.granted" | "trust.revoked" | "cancel.requested" | "notification.sent">>;

const UNCONTESTED: readonly SharedDraft["type"][] = ["trust.granted", "trust.revoked", "cancel.requested", "notification.sent"];

/** False if none conflicts: the newest trust event counts; a request to cancel and a record of notifications change nothing by themselves. */
export function isContested(event: SharedDraft): event is ContestedDraft {
  return !UNCONTESTED.includes(event.type);
}

/** The proposal's row after one of its events. Throws `IllegalEvent` for an illegal event or one from another session. */
export function nextProposalRow(row: ProposalRow | undefined, event: LedgerEvent): ProposalRow {
  const after = isProposalEvent(event) ? nextProposal(row, event) : undefined;
  if (after === undefined) throw new IllegalEvent(event, row?.state ?? "none");
  return after;
}

/** Why this request cannot be stored; each request is bound to what was shown. */
export function proposalRefusal(row: ProposalRow | undefined, event: SharedDraft): "proposal_not_found" | "stale_revision" | undefined {
  if (event.type !== "proposal.requested") return undefined;
  if (row === undefined || row.session !== event.body.session) return "proposal_not_found";
  return event.body.digest === row.digest ? undefined : "stale_revision";
}

/** The question's row after it was asked, answered or closed with its call; only a running call may ask. */
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

/** Why this answer to a question cannot be stored; "too_late" means that it is answered or its call has ended. */
export function questionRefusal(row: QuestionRow | undefined, event: SharedDraft): "unknown_approval" | "too_late" | undefined {
  if (event.type !== "question.answered") return undefined;
  if (row === undefined || row.session !== event.body.session) return "unknown_approval";
  return row.state === "open" ? undefined : "too_late";
}
