import type { Verdict } from "./decision.ts";
import type { EventBodies, LedgerEvent } from "./events.ts";
import type { ApprovalRow, ClaimLost, GrantRow, SharedDraft } from "./ledger-rows.ts";
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
  readonly claim: {
    readonly attempt: number;
    readonly key: string | null;
  } | null;
};
/** The row after an event of the call, of either chain; undefined removes it (ended). Throws `IllegalEvent` for an event that no such row allows. */
export declare function nextCallRow(row: CallRow | undefined, event: LedgerEvent): CallRow | undefined;
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
export declare function claimLoss(claimed: EventBodies["call.claimed"], facts: ClaimFacts): ClaimLost | undefined;
/** The approval that an event changes, given its call's row before the event: its own events, the claim of its answer, the end of its call. */
export declare function approvalOf(event: LedgerEvent, call: CallRow | undefined): string | undefined;
/** The approval's row after an event that `approvalOf` relates to it; one that opens again has a higher revision. */
export declare function nextApprovalRow(row: ApprovalRow | undefined, event: LedgerEvent): ApprovalRow;
/** May this answer or close be stored now? "stands": something did already, or the deadline did, and wins. Other events are none of its business. */
export declare function answerRefusal(
  row: ApprovalRow | undefined,
  event: SharedDraft,
  now: string,
): "unknown_approval" | "stale_revision" | "stands" | undefined;
