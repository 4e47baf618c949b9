import type { Verdict } from "./decision.ts";
import type { EventBodies, LedgerEvent } from "./events.ts";
import type { Kind } from "./kind.ts";
import { answerSource } from "./notification-source.ts";
import type { Outcome, OutcomeState } from "./outcome.ts";
import { type TaskProcess, withEarlier } from "./task/events.ts";

/** What the newest judgement found; the ledger keeps the judged input at `seq`. */
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

/** The consent in force: its position, what it covers and who gave it. */
export type Consent = {
  readonly pos: number;
  readonly covers: string | undefined;
  readonly by: "person" | "host" | "grant" | "hook";
  /** The grant's or hook's id, or the person's name. */
  readonly id: string;
  /** Further grants that consented together with this one. */
  readonly also: readonly string[];
  readonly edited: boolean;
  /** The stable source name used in decision notifications. */
  readonly source: string;
};

/** The state of an approval that did not end in consent. */
export type ApprovalState = "open" | "rejected" | "expired" | "cancelled" | "denied";

/**
 * A call from proposal to outcome.
 *
 * proposed ─judged▶ judged ─opened▶ waiting ─answered▶ approved ─claimed▶ claimed ─ended▶ ended
 * A judged allow is claimed at once; a grant or hook leads from judged to approved; an approved call may be asked again.
 */
export type Call = { readonly callId: string; readonly tool: string; readonly seq: number; readonly index: number } & (
  | { readonly state: "proposed" }
  | { readonly state: "judged"; readonly judged: JudgementSummary }
  | {
      readonly state: "waiting";
      readonly judged: JudgementSummary;
      readonly approval: string;
      readonly revision: number;
      readonly shown: string;
      readonly expiresAt: string | null;
      readonly approvalState: ApprovalState;
      readonly reason: string | null;
      /** The rejection ends the whole batch. */
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
      readonly process: TaskProcess | null;
    }
  | { readonly state: "ended"; readonly outcome: Outcome }
);

/** How each state may end; every state can be cancelled. */
const ENDS: Readonly<Record<Call["state"], readonly OutcomeState[]>> = {
  proposed: ["invalid", "denied", "cancelled"], // denied: the decision could not be recorded
  judged: ["denied", "rejected", "cancelled"], // rejected: by a permission hook, or because the same call was rejected before
  waiting: ["rejected", "expired", "denied", "cancelled"],
  approved: ["denied", "cancelled"], // denied: the policy changed before the claim
  claimed: ["succeeded", "failed", "timed_out", "cancelled", "unknown"],
  ended: [],
};

// Callers use the predicates below instead of comparing state names, so a new state does not compile until each handles
// it. They are switches because V8 looks up a name in a record as slowly as in a map.

/** A call whose claim is on disk and whose end is not. */
export type RunningCall = InState<"claimed">;

/** True if the effect may be under way or may have happened before a crash; such a call is never simply run again. */
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

/** True if the call asked and is not claimed yet, including when a grant or hook consented. */
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

/** The only way a call changes; undefined means the event is not legal in this state. */
export function next(call: Call | undefined, event: LedgerEvent): Call | undefined {
  if (!call) return event.type === "call.proposed" ? proposed(event) : undefined;
  if (event.type === "call.ended") return ended(call, event);
  switch (call.state) {
    case "proposed":
      return event.type === "call.judged" ? judgedFirst(call, event) : undefined;
    case "judged": // an ask opens an approval, or a grant or hook answers it at once; a deny only ends
      return rejudged(call, event) ?? (call.judged.verdict === "allow" ? claimed(call, event) : asked(call, event));
    case "waiting":
      return rejudged(call, event) ?? answered(call, event) ?? closed(call, event) ?? opened(call, event);
    case "approved": // where the consent no longer holds, the approval opens again
      return rejudged(call, event) ?? claimed(call, event) ?? closed(call, event) ?? opened(call, event);
    case "claimed":
      return running(call, event);
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

function proposed({ seq, body }: LedgerEvent & { readonly body: EventBodies["call.proposed"] }): Call {
  return { callId: body.call, tool: body.tool, seq, index: body.index, state: "proposed" };
}

function judgement({ seq, body }: LedgerEvent & { readonly body: EventBodies["call.judged"] }): JudgementSummary {
  const { tool, kind, safe, fingerprint, verdict, explicitAsk, policy } = body;
  return { seq, tool, kind, safe, fingerprint, verdict, explicitAsk, policy };
}

function judgedFirst({ callId, tool, seq, index }: Call, event: LedgerEvent<"call.judged">): Call {
  return { callId, tool, seq, index, state: "judged", judged: judgement(event) };
}

/** After a policy change, new facts or an edit, the state stays and the new judgement applies. */
function rejudged<S extends InState<"judged" | "waiting" | "approved">>(call: S, event: LedgerEvent): S | undefined {
  return event.type === "call.judged" ? { ...call, judged: judgement(event) } : undefined;
}

function asked(call: InState<"judged">, event: LedgerEvent): Call | undefined {
  if (call.judged.verdict === "deny") return undefined;
  if (event.type !== "call.answered") return opened(call, event);
  if (call.judged.explicitAsk || event.body.fingerprint !== call.judged.fingerprint) return undefined;
  const consent: Consent = {
    pos: event.pos,
    covers: event.body.fingerprint,
    by: event.body.by.kind,
    id: event.body.by.id,
    also: event.body.by.also ?? [],
    edited: false,
    source: event.body.source,
  };
  return { ...base(call), state: "approved", judged: call.judged, approval: null, revision: 0, consent };
}

const OPEN = { approvalState: "open", reason: null, interrupt: false } as const;

/** Each reopening raises the revision. */
function opened(call: InState<"judged" | "waiting" | "approved">, event: LedgerEvent): Call | undefined {
  if (event.type !== "approval.opened" || event.body.fingerprint !== call.judged.fingerprint) return undefined;
  if (call.state !== "judged" && (event.body.revision <= call.revision || (call.approval ?? event.body.approval) !== event.body.approval))
    return undefined;
  const { approval, revision, fingerprint: shown, expiresAt } = event.body;
  return { ...base(call), ...OPEN, state: "waiting", judged: call.judged, approval, revision, shown, expiresAt };
}

/** An approval covers one fingerprint: the one shown, or its edit. A rejected call waits until its end is recorded. */
function answered(call: InState<"waiting">, event: LedgerEvent): Call | undefined {
  if (event.type !== "approval.answered" || call.approvalState !== "open") return undefined;
  const { approval, revision, fingerprint, outcome, edited, by, reason } = event.body;
  if (approval !== call.approval || revision !== call.revision || fingerprint !== call.shown) return undefined;
  if (outcome === "rejected") return { ...call, approvalState: "rejected", reason, interrupt: event.body.interrupt === true };
  const consent: Consent = {
    pos: event.pos,
    covers: edited?.fingerprint ?? fingerprint,
    by: by.kind,
    id: by.name,
    also: [],
    edited: edited !== undefined,
    source: sourceOf(event.body),
  };
  return { ...base(call), state: "approved", judged: call.judged, approval, revision, consent };
}

/** A grant's answer records its scope as the surface. */
function sourceOf({ by, remember }: EventBodies["approval.answered"]): string {
  if (by.kind === "grant") return `grant_${by.door}`;
  return answerSource(remember ? { outcome: "approve", remember } : { outcome: "approve" }).source;
}

/** The approval closed without consent, or the consent was withdrawn before the claim. */
function closed(call: InState<"waiting" | "approved">, event: LedgerEvent): Call | undefined {
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
    expiresAt: null,
    approvalState: outcome,
  };
}

/** Only the fingerprint that was judged and, if asked, approved can be claimed. */
function claimed(call: InState<"judged" | "approved">, event: LedgerEvent): Call | undefined {
  if (event.type !== "call.claimed" || event.body.fingerprint !== call.judged.fingerprint) return undefined;
  if (call.state === "approved" && !isInForce(call)) return undefined;
  const { callId, tool, seq, index, judged } = call;
  const { attempt, idempotencyKey: key } = event.body;
  const answer = call.state === "approved" ? { pos: call.consent.pos } : null;
  return { callId, tool, seq, index, state: "claimed", judged, attempt, claimedAt: event.at, key, answer, process: null };
}

/** Consent covers the newest judgement unless that denies, or newly requires a person and none has answered. */
function isInForce({ judged, consent }: InState<"approved">): boolean {
  if (judged.verdict === "deny" || consent.covers !== judged.fingerprint) return false;
  return !judged.explicitAsk || consent.by === "person" || consent.by === "host";
}

function running(call: InState<"claimed">, event: LedgerEvent): Call | undefined {
  if (event.type === "call.started") return { ...call, process: withEarlier(event.body, call.process) };
  const retry = event.type === "call.claimed" && isRetry(call, event.body);
  return retry ? { ...call, attempt: 2, claimedAt: event.at, process: null } : undefined;
}

/** After a crash one more attempt is legal, and only with the same idempotency key. */
export function isRetry({ attempt, key }: InState<"claimed">, claimed: EventBodies["call.claimed"]): boolean {
  return attempt === 1 && claimed.attempt === 2 && key !== null && claimed.idempotencyKey === key;
}

/** Like `next`, but returns null for a call that has ended. */
export function nextOpen(call: Call | undefined, event: LedgerEvent): Call | null | undefined {
  if (event.type !== "call.ended") return next(call, event);
  return call && ENDS[call.state].includes(event.body.outcome) ? null : undefined;
}

function ended(call: Call, { body }: LedgerEvent & { readonly body: EventBodies["call.ended"] }): Call | undefined {
  if (!ENDS[call.state].includes(body.outcome)) return undefined;
  const { callId, tool, seq, index } = call;
  return { callId, tool, seq, index, state: "ended", outcome: { state: body.outcome, type: body.type } };
}
