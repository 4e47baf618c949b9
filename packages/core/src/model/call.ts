import type { Verdict } from "./decision.ts";
import type { EventBodies, LedgerEvent } from "./events.ts";
import type { Kind } from "./kind.ts";
import { type ApprovalSource, answerSource } from "./notification-source.ts";
import type { Outcome, OutcomeState } from "./outcome.ts";
import { type TaskProcess, withEarlier } from "./task/events.ts";

/** The newest judgement; the ledger keeps the judged input at `seq`. */
export type JudgementSummary = {
  readonly seq: number;
  readonly tool: string;
  readonly kind: Kind;
  readonly safe: boolean;
  readonly fingerprint: string | undefined;
  readonly verdict: Verdict;
  readonly explicitAsk: boolean;
  readonly policy: string;
};

/** The consent to a call: its position, the fingerprint it covers, and who gave it. */
export type Consent = {
  readonly pos: number;
  readonly covers: string | undefined;
  readonly by: "person" | "host" | "grant" | "hook";
  /** The id of the grant or hook, or the person's name. */
  readonly id: string;
  /** Further grants that were needed for this consent. */
  readonly also: readonly string[];
  readonly edited: boolean;
  /** The preview whose changes are written instead of running the call. */
  readonly writes: string | null;
  readonly source: ApprovalSource;
};

export type ApprovalState = "open" | "rejected" | "expired" | "cancelled" | "denied";

/** A call from proposal to outcome; ARCHITECTURE.md draws the states. */
export type Call = { readonly callId: string; readonly tool: string; readonly seq: number; readonly index: number } & (
  | { readonly state: "proposed" }
  | { readonly state: "judged"; readonly judged: JudgementSummary }
  | {
      readonly state: "waiting";
      readonly judged: JudgementSummary;
      readonly approval: string;
      readonly revision: number;
      readonly shown: string;
      /** The preview that was shown with it. */
      readonly preview: string | null;
      readonly expiresAt: string | null;
      readonly approvalState: ApprovalState;
      readonly reason: string | null;
      readonly interrupt: boolean;
    }
  | {
      readonly state: "approved";
      readonly judged: JudgementSummary;
      readonly approval: string | null;
      readonly revision: number;
      readonly consent: Consent;
    }
  | {
      readonly state: "claimed";
      readonly judged: JudgementSummary;
      readonly attempt: number;
      readonly claimedAt: string;
      readonly key: string | null;
      readonly answer: { readonly pos: number } | null;
      /** The preview whose changes are its effect; null if the call runs. */
      readonly writes: string | null;
      readonly process: TaskProcess | null;
    }
  | { readonly state: "ended"; readonly outcome: Outcome }
);

/** How each state may end. */
const ENDS: Readonly<Record<Call["state"], readonly OutcomeState[]>> = {
  proposed: ["invalid", "denied", "cancelled"], // denied: the decision could not be recorded
  judged: ["denied", "rejected", "failed", "cancelled"], // rejected: by a permission hook, or as the same call before; failed: certain before it was asked about
  waiting: ["rejected", "expired", "denied", "cancelled"],
  approved: ["denied", "cancelled"], // denied: the policy changed before the claim
  claimed: ["succeeded", "failed", "timed_out", "cancelled", "unknown"],
  ended: [],
};

// Callers use the predicates below instead of comparing state names, so that a new state does not compile until each handles it.

export type RunningCall = InState<"claimed">;

/** True if the effect may have begun; such a call is never simply run again. */
export function mayBeUnderWay(call: Call | undefined): call is RunningCall {
  const state = call?.state;
  switch (state) {
    case "claimed":
      return true;
    case undefined:
    case "proposed":
    case "judged":
    case "waiting":
    case "approved":
    case "ended":
      return false;
    default:
      return state satisfies never;
  }
}

/** True if the call asked, or a grant or hook consented, and it is not claimed yet. */
export function isAsked(call: Call | undefined): call is InState<"waiting" | "approved"> {
  const state = call?.state;
  switch (state) {
    case "waiting":
    case "approved":
      return true;
    case undefined:
    case "proposed":
    case "judged":
    case "claimed":
    case "ended":
      return false;
    default:
      return state satisfies never;
  }
}

/** True for an open call that has been judged. */
export function hasJudgement(call: Call | undefined): call is InState<"judged" | "waiting" | "approved" | "claimed"> {
  const state = call?.state;
  switch (state) {
    case "judged":
    case "waiting":
    case "approved":
    case "claimed":
      return true;
    case undefined:
    case "proposed":
    case "ended":
      return false;
    default:
      return state satisfies never;
  }
}

/** The only way a call changes; undefined if the event is not legal in this state. */
export function next(call: Call | undefined, event: LedgerEvent): Call | undefined {
  if (!call) return event.type === "call.proposed" ? applyProposed(event) : undefined;
  if (event.type === "call.ended") return applyEnded(call, event);
  switch (call.state) {
    case "proposed":
      return event.type === "call.judged" ? applyJudged(call, event) : undefined;
    case "judged":
      return applyNewJudgement(call, event) ?? (call.judged.verdict === "allow" ? applyClaimed(call, event) : applyAsked(call, event));
    case "waiting":
      return applyNewJudgement(call, event) ?? applyAnswered(call, event) ?? applyClosed(call, event) ?? applyOpened(call, event);
    case "approved": // the approval opens again if the consent no longer applies
      return applyNewJudgement(call, event) ?? applyClaimed(call, event) ?? applyClosed(call, event) ?? applyOpened(call, event);
    case "claimed":
      return applyWhileClaimed(call, event);
    case "ended":
      return undefined;
    default:
      return call satisfies never;
  }
}

type Base = Pick<Call, "callId" | "tool" | "seq" | "index">;
type InState<S extends Call["state"]> = Extract<Call, { readonly state: S }>;

function base({ callId, tool, seq, index }: Call): Base {
  return { callId, tool, seq, index };
}

function applyProposed({ seq, body }: LedgerEvent & { readonly body: EventBodies["call.proposed"] }): Call {
  return { callId: body.call, tool: body.tool, seq, index: body.index, state: "proposed" };
}

function summarizeJudgement({ seq, body }: LedgerEvent & { readonly body: EventBodies["call.judged"] }): JudgementSummary {
  const { tool, kind, safe, fingerprint, verdict, explicitAsk, policy } = body;
  return { seq, tool, kind, safe, fingerprint, verdict, explicitAsk, policy };
}

function applyJudged({ callId, tool, seq, index }: Call, event: LedgerEvent<"call.judged">): Call {
  return { callId, tool, seq, index, state: "judged", judged: summarizeJudgement(event) };
}

/** A new judgement replaces the old one; the state stays. */
function applyNewJudgement<S extends InState<"judged" | "waiting" | "approved">>(call: S, event: LedgerEvent): S | undefined {
  return event.type === "call.judged" ? { ...call, judged: summarizeJudgement(event) } : undefined;
}

function applyAsked(call: InState<"judged">, event: LedgerEvent): Call | undefined {
  if (call.judged.verdict === "deny") return undefined;
  if (event.type !== "call.answered") return applyOpened(call, event);
  if (call.judged.explicitAsk || event.body.fingerprint !== call.judged.fingerprint) return undefined;
  const consent: Consent = {
    pos: event.pos,
    covers: event.body.fingerprint,
    by: event.body.by.kind,
    id: event.body.by.id,
    also: event.body.by.also ?? [],
    edited: false,
    writes: null,
    source: event.body.source,
  };
  return { ...base(call), state: "approved", judged: call.judged, approval: null, revision: 0, consent };
}

const OPEN = { approvalState: "open", reason: null, interrupt: false } as const;

function applyOpened(call: InState<"judged" | "waiting" | "approved">, event: LedgerEvent): Call | undefined {
  if (event.type !== "approval.opened" || event.body.fingerprint !== call.judged.fingerprint) return undefined;
  if (call.state !== "judged" && (event.body.revision <= call.revision || (call.approval ?? event.body.approval) !== event.body.approval))
    return undefined;
  const { approval, revision, fingerprint: shown, expiresAt, preview: seen } = event.body;
  const preview = seen?.id ?? null;
  return { ...base(call), ...OPEN, state: "waiting", judged: call.judged, approval, revision, shown, preview, expiresAt };
}

/** An approval covers one fingerprint: the one shown, or the edited one. */
function applyAnswered(call: InState<"waiting">, event: LedgerEvent): Call | undefined {
  if (event.type !== "approval.answered" || call.approvalState !== "open") return undefined;
  const { approval, revision, fingerprint, outcome, edited, by, reason, write } = event.body;
  if (approval !== call.approval || revision !== call.revision || fingerprint !== call.shown) return undefined;
  if (outcome === "rejected") return { ...call, approvalState: "rejected", reason, interrupt: event.body.interrupt === true };
  const consent: Consent = {
    pos: event.pos,
    covers: edited?.fingerprint ?? fingerprint,
    by: by.kind,
    id: by.name,
    also: [],
    edited: edited !== undefined,
    writes: write ?? null,
    source: answerSourceOf(event.body),
  };
  return { ...base(call), state: "approved", judged: call.judged, approval, revision, consent };
}

/** A grant's answer records its scope in `door`. */
function answerSourceOf({ by, remember }: EventBodies["approval.answered"]): ApprovalSource {
  if (by.kind === "grant") return `grant_${by.door}` as ApprovalSource;
  return answerSource(remember ? { outcome: "approve", remember } : { outcome: "approve" }).source;
}

function applyClosed(call: InState<"waiting" | "approved">, event: LedgerEvent): Call | undefined {
  if (event.type !== "approval.closed" || event.body.approval !== call.approval || event.body.revision !== call.revision) return undefined;
  const { approval, revision, outcome } = event.body;
  if (call.state === "waiting") return call.approvalState === "open" ? { ...call, approvalState: outcome } : undefined;
  if (outcome === "expired") return undefined;
  const shown = call.consent.covers ?? "";
  return {
    ...base(call),
    ...OPEN,
    state: "waiting",
    judged: call.judged,
    approval,
    revision,
    shown,
    preview: null,
    expiresAt: null,
    approvalState: outcome,
  };
}

/** Only the fingerprint that was judged and, if asked, approved can be claimed. */
function applyClaimed(call: InState<"judged" | "approved">, event: LedgerEvent): Call | undefined {
  if (event.type !== "call.claimed" || event.body.fingerprint !== call.judged.fingerprint) return undefined;
  if (call.state === "approved" && !coversJudgement(call)) return undefined;
  const { callId, tool, seq, index, judged } = call;
  const { attempt, idempotencyKey: key } = event.body;
  const consent = call.state === "approved" ? call.consent : undefined;
  const answer = consent ? { pos: consent.pos } : null;
  const writes = consent?.writes ?? null;
  return { callId, tool, seq, index, state: "claimed", judged, attempt, claimedAt: event.at, key, answer, writes, process: null };
}

/** False if the newest judgement denies, covers another request, or requires a person and none answered. */
function coversJudgement({ judged, consent }: InState<"approved">): boolean {
  if (judged.verdict === "deny" || consent.covers !== judged.fingerprint) return false;
  return !judged.explicitAsk || consent.by === "person" || consent.by === "host";
}

function applyWhileClaimed(call: InState<"claimed">, event: LedgerEvent): Call | undefined {
  if (event.type === "call.started") return { ...call, process: withEarlier(event.body, call.process) };
  const retry = event.type === "call.claimed" && isRetry(call, event.body);
  return retry ? { ...call, attempt: 2, claimedAt: event.at, process: null } : undefined;
}

/** After a crash, one retry with the same idempotency key is legal. */
export function isRetry({ attempt, key }: InState<"claimed">, claimed: EventBodies["call.claimed"]): boolean {
  return attempt === 1 && claimed.attempt === 2 && key !== null && claimed.idempotencyKey === key;
}

/** Like `next`, but returns null for a call that has ended. */
export function nextOpen(call: Call | undefined, event: LedgerEvent): Call | null | undefined {
  if (event.type !== "call.ended") return next(call, event);
  return call && ENDS[call.state].includes(event.body.outcome) ? null : undefined;
}

function applyEnded(call: Call, { body }: LedgerEvent & { readonly body: EventBodies["call.ended"] }): Call | undefined {
  if (!ENDS[call.state].includes(body.outcome)) return undefined;
  const { callId, tool, seq, index } = call;
  return { callId, tool, seq, index, state: "ended", outcome: { state: body.outcome, type: body.type } };
}
