import { answerSources, type ClaimLost, claimLoss, type Draft, type Durability, type LedgerEvent } from "@assent/core";
import { callKey } from "../rows/rows.ts";
import { type Expectation, writableChain } from "./append.ts";
import { type EventStaging, type PreparedEvent, prepareEvent } from "./staging.ts";

export type PreparedClaim = {
  readonly claimed: Draft<"call.claimed">;
  readonly prepared: PreparedEvent;
  /** A claim that uses an answer is synced even for a safe call, because its mark must not outlive it in a power cut. */
  readonly durability: Durability;
};

/** Throws `event_invalid`. */
export function prepareClaim(claimed: Draft<"call.claimed">): PreparedClaim {
  const { durability, answer } = claimed.body;
  return {
    claimed,
    prepared: prepareEvent(claimed, (type) => type === "call.claimed"),
    durability: durability === "normal" && answer === null ? "normal" : "full",
  };
}

export type ClaimContext = {
  readonly now: () => string;
  /** Called if the claim uses an approval or a limited grant; may throw to refuse it. */
  readonly consumed: (event: LedgerEvent) => void;
};

/** Stores the claim only if all its conditions hold. */
export function claim(
  writing: EventStaging,
  expectation: Expectation,
  { claimed, prepared, now, consumed }: PreparedClaim & ClaimContext,
): { readonly won: LedgerEvent } | { readonly lost: ClaimLost } {
  const { rows } = writing;
  const { session, epoch } = expectation.lease;
  const { policySeq } = writableChain(writing, expectation);
  const call = rows.calls.get(callKey(session, claimed.body.call))?.row;
  const sources = answerSources(call);
  const approval = sources.approval === undefined ? undefined : rows.approvals.get(sources.approval)?.row;
  const grant = sources.grant === undefined ? undefined : rows.grants.get(sources.grant)?.row;
  const facts = { call, approval, grant, policySeq, now: grant?.expiresAt === undefined ? "" : now(), durable: true };
  const lost = claimLoss(claimed.body, facts);
  if (lost !== undefined) return { lost };
  const won = writing.stage(session, epoch, prepared);
  if (approval !== undefined || grant?.usesLeft !== undefined) consumed(won);
  return { won };
}
