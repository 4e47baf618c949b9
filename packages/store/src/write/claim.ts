import { type ClaimLost, claimLoss, type Draft, type LedgerEvent, standsOn } from "@assent/core";
import { callKey } from "../rows/rows.ts";
import { type Expectation, writableChain } from "./append.ts";
import { type PreparedEvent, prepareEvent, type TransactionWriter } from "./writing.ts";

/** An intent: what is claimed, and how it will be stored. */
export type PreparedClaim = { readonly claimed: Draft<"call.claimed">; readonly prepared: PreparedEvent };

/** The intent as it will be stored, or `event_invalid`. */
export function prepareClaim(claimed: Draft<"call.claimed">): PreparedClaim {
  return { claimed, prepared: prepareEvent(claimed, (type) => type === "call.claimed") };
}

/** What a claim needs besides the rows. */
export type ClaimContext = {
  readonly now: () => string;
  /** Called with an intent that uses up an approval or one of a grant's limited uses. It may throw to refuse the claim. */
  readonly consumed: (event: LedgerEvent) => void;
};

/** Stores the intent if every condition for it holds in this very transaction. */
export function claim(
  writing: TransactionWriter,
  expectation: Expectation,
  { claimed, prepared, now, consumed }: PreparedClaim & ClaimContext,
): { readonly won: LedgerEvent } | { readonly lost: ClaimLost } {
  const { rows } = writing;
  const { session, epoch } = expectation.lease;
  const { policySeq } = writableChain(writing, expectation);
  const call = rows.calls.get(callKey(session, claimed.body.call))?.row;
  const stands = standsOn(call);
  const approval = stands.approval === undefined ? undefined : rows.approvals.get(stands.approval)?.row;
  const grant = stands.grant === undefined ? undefined : rows.grants.get(stands.grant)?.row;
  const facts = { call, approval, grant, policySeq, now: grant?.expiresAt === undefined ? "" : now(), durable: true };
  const lost = claimLoss(claimed.body, facts);
  if (lost !== undefined) return { lost };
  const won = writing.stage(session, epoch, prepared);
  if (approval !== undefined || grant?.usesLeft !== undefined) consumed(won);
  return { won };
}
