import type { Verdict } from "./decision.ts";
import type { EventBodies, LedgerEvent } from "./events.ts";
import { IllegalEvent } from "./fold.ts";
import { grantAt, hasPassed } from "./grant-row.ts";
import type { ApprovalRow, ClaimLost, GrantRow, SharedDraft } from "./ledger-rows.ts";
import type { OutcomeState } from "./outcome.ts";

/** What a store remembers of a call between its proposal and its end: as much as a claim depends on. */
export type CallRow = {
  readonly state: "proposed" | "judged" | "waiting" | "approved" | "claimed";
  /** Sequence of the newest `call.judged`; 0 before. */
  readonly judgedSeq: number;
  readonly verdict: Verdict | null;
  /** The newest judgement insists on a person. */
  readonly explicitAsk: boolean;
  readonly fingerprint: string | null;
  /** The open or answered approval. */
  readonly approval: string | null;
  /** The yes in force. */
  readonly answer: {
    readonly pos: number;
    readonly covers: string | null;
    readonly grant: string | null;
    readonly by: "person" | "host" | "grant" | "hook";
  } | null;
  /** The intent, once stored. */
  readonly claim: { readonly attempt: number; readonly key: string | null } | null;
};

const PROPOSED: CallRow = Object.freeze({
  state: "proposed",
  judgedSeq: 0,
  verdict: null,
  explicitAsk: false,
  fingerprint: null,
  approval: null,
  answer: null,
  claim: null,
});

/** As `ENDS` of call.ts: what `next` would refuse to fold is not stored either. */
const ENDS: Readonly<Record<CallRow["state"], readonly OutcomeState[]>> = {
  proposed: ["invalid", "denied", "cancelled"],
  judged: ["denied", "rejected", "cancelled"],
  waiting: ["rejected", "expired", "denied", "cancelled"],
  approved: ["denied", "cancelled"],
  claimed: ["succeeded", "failed", "timed_out", "cancelled", "unknown"],
};

/** The row after an event of the call, of either chain; undefined removes it (ended). Throws `IllegalEvent` for an event that no such row allows. */
export function nextCallRow(row: CallRow | undefined, event: LedgerEvent): CallRow | undefined {
  if (row === undefined) {
    if (event.type === "call.proposed") return PROPOSED;
    throw new IllegalEvent(event, "none");
  }
  if (event.type === "call.ended" && ENDS[row.state].includes(event.body.outcome)) return undefined;
  const next = row.state === "claimed" ? claimedRow(row, event) : unclaimedRow(row, event);
  if (next === undefined) throw new IllegalEvent(event, row.state);
  return next;
}

function unclaimedRow(row: CallRow, event: LedgerEvent): CallRow | undefined {
  switch (event.type) {
    case "call.judged":
      return judgedRow(row, event);
    case "call.answered":
      return mayLift(row, event.body.fingerprint) ? { ...row, state: "approved", answer: lifted(event) } : undefined;
    case "approval.opened":
      return mayOpen(row, event.body) ? { ...row, state: "waiting", approval: event.body.approval, answer: null } : undefined;
    case "approval.answered":
    case "approval.closed":
      return event.body.approval === row.approval ? settledRow(row, event) : undefined;
    case "call.claimed":
      return row.state === "judged" || row.state === "approved" ? intent(row, event.body) : undefined;
    default:
      return undefined;
  }
}

/** A grant or hook answers only the ask that nobody insisted on. */
function mayLift({ state, verdict, explicitAsk, fingerprint }: CallRow, answered: string): boolean {
  return state === "judged" && verdict === "ask" && !explicitAsk && answered === fingerprint;
}

/** An ask opens an approval; the same one, open or answered, may open again, as judged last. */
function mayOpen({ state, verdict, fingerprint, approval }: CallRow, opened: EventBodies["approval.opened"]): boolean {
  if (opened.fingerprint !== fingerprint || (approval !== null && approval !== opened.approval)) return false;
  return state === "judged" ? verdict === "ask" : state !== "proposed";
}

function claimedRow(row: CallRow, event: LedgerEvent): CallRow | undefined {
  if (event.type === "call.started") return row;
  return event.type === "call.claimed" && isRetry(row, event.body) ? intent(row, event.body) : undefined;
}

/** A changed policy, changed facts or an edit is judged again without leaving the state. */
function judgedRow(row: CallRow, { seq, body }: LedgerEvent<"call.judged">): CallRow {
  return {
    state: row.state === "proposed" ? "judged" : row.state,
    judgedSeq: seq,
    verdict: body.verdict,
    explicitAsk: body.explicitAsk,
    fingerprint: body.fingerprint ?? null,
    approval: row.approval,
    answer: row.answer,
    claim: null,
  };
}

/** A no or a close leaves the call waiting, without an answer that a claim could use. */
function settledRow(row: CallRow, event: LedgerEvent<"approval.answered" | "approval.closed">): CallRow {
  if (event.type === "approval.closed" || event.body.outcome === "rejected") return { ...row, state: "waiting", answer: null };
  const { by, edited, fingerprint } = event.body;
  const grant = by.kind === "grant" ? by.name : null;
  return { ...row, state: "approved", answer: { pos: event.pos, covers: edited?.fingerprint ?? fingerprint, grant, by: by.kind } };
}

function lifted({ pos, body }: LedgerEvent<"call.answered">): CallRow["answer"] {
  return { pos, covers: body.fingerprint, grant: body.by.kind === "grant" ? body.by.id : null, by: body.by.kind };
}

function intent(row: CallRow, { attempt, idempotencyKey }: EventBodies["call.claimed"]): CallRow {
  return { ...row, state: "claimed", claim: { attempt, key: idempotencyKey } };
}

function isRetry({ claim }: CallRow, { attempt, idempotencyKey }: EventBodies["call.claimed"]): boolean {
  return claim?.attempt === 1 && attempt === 2 && claim.key !== null && idempotencyKey === claim.key;
}

/** What a claim is compared with, read in the transaction that would store it. */
export type ClaimFacts = {
  readonly call: CallRow | undefined;
  /** The row of `call.approval`. */
  readonly approval: ApprovalRow | undefined;
  /** The row of `call.answer.grant`. */
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
  if (call === undefined) return "not_claimable";
  return stateLoss(call, claimed) ?? answerLoss(call, claimed.answer, facts) ?? requestLoss(call, claimed.fingerprint ?? null, facts);
}

function stateLoss(call: CallRow, claimed: EventBodies["call.claimed"]): ClaimLost | undefined {
  if (call.state === "claimed") return isRetry(call, claimed) ? undefined : "already_claimed";
  return call.verdict === "deny" || claimed.attempt !== 1 ? "not_claimable" : undefined;
}

function answerLoss(call: CallRow, named: { readonly pos: number } | null, facts: ClaimFacts): ClaimLost | undefined {
  const { answer } = call;
  if (named === null) return needsNoAnswer(call) ? undefined : "not_claimable";
  if (answer?.pos !== named.pos || isOverruled(call)) return "answer_void";
  if (call.approval !== null && facts.approval?.state !== "approved") return "answer_void";
  if (facts.approval?.consumed && call.state !== "claimed") return "answer_consumed";
  return answer.grant === null || grantHolds(facts) ? undefined : "grant_revoked";
}

function needsNoAnswer({ state, verdict, answer }: CallRow): boolean {
  return answer === null && (state === "claimed" || (state === "judged" && verdict === "allow"));
}

/** Settings began to insist on a person after a grant or hook had said yes. */
function isOverruled({ explicitAsk, answer }: CallRow): boolean {
  return explicitAsk && (answer?.by === "grant" || answer?.by === "hook");
}

/** A use that this call took itself may have been the last one. */
function grantHolds({ grant, now }: ClaimFacts): boolean {
  const state = grant && grantAt(grant, now).state;
  return state === "active" || state === "used_up";
}

function requestLoss(call: CallRow, fingerprint: string | null, { policySeq, durable }: ClaimFacts): ClaimLost | undefined {
  if (fingerprint !== call.fingerprint || (fingerprint === null && durable)) return "fingerprint_mismatch";
  if (call.answer !== null && call.answer.covers !== fingerprint) return "fingerprint_mismatch";
  return call.judgedSeq > policySeq ? undefined : "policy_changed";
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
      return call?.approval ?? undefined;
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

/** A call that ended leaves no question behind that somebody could still answer. */
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
