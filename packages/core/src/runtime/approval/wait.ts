import { AnswerError } from "../../errors.ts";
import { LedgerError } from "../../ledger-port.ts";
import type { Answer } from "../../model/answer.ts";
import type { Call, Consent } from "../../model/call.ts";
import { toolHookInput } from "../../model/hooks/input.ts";
import { answerSource, CANCELED, decidedSource, EXPIRED, type NotificationSource } from "../../model/notification-source.ts";
import { messageOf } from "../../model/result/thrown.ts";
import type { OpenApproval } from "../../ports.ts";
import { type BatchRun, type CallRun, type StepResult, skipRest } from "../pipeline/call-run.ts";
import { closedApprovalEnding, denialEnding } from "../pipeline/endings.ts";
import { rejudgeCall } from "../pipeline/judge.ts";
import type { JudgedCall } from "../pipeline/judged-call.ts";
import { notifyVerdict, tellHooks } from "../pipeline/notify.ts";
import { hookCall, hookSession } from "../pipeline/rewrite.ts";
import { traceApproval } from "../pipeline/tracing.ts";
import { makeWakeSignal } from "../waiting.ts";
import { answerApproval, isPast, refuseLostAnswer } from "./answer.ts";
import { closeApproval, stopBeforeClaim } from "./close.ts";
import { answerByGrant } from "./grants.ts";
import { answerPorts } from "./requests.ts";

type WaitingCall = Extract<Call, { readonly state: "waiting" }>;

/** Why there is no answer: the approver did not give one, or it threw or gave one that cannot be used. */
export type MissingAnswer = "unasked" | "approver_failed";

/** `preview`: the person wants to see what the call would do. `changed`: the request changed. */
export type WaitOutcome =
  | StepResult<{ readonly go: Consent }>
  | MissingAnswer
  | "preview"
  | { readonly parked: string }
  | { readonly changed: JudgedCall };

type WaitState = {
  missing: MissingAnswer | "preview" | undefined;
  grants: boolean;
  expired: boolean;
  judged: JudgedCall;
  failure?: unknown;
};

export async function waitForAnswer(
  batch: BatchRun,
  run: CallRun,
  { judged, open }: { readonly judged: JudgedCall; readonly open: OpenApproval },
): Promise<WaitOutcome> {
  const wakeSignal = makeWakeSignal();
  const state: WaitState = { missing: undefined, grants: false, expired: false, judged };
  run.wake = wakeSignal.ring;
  batch.shown.set(open.id, open);
  let stopListening = (): void => undefined;
  try {
    tellWaiting(batch, run);
    stopListening = listenForAnswers(batch, open, state, wakeSignal.ring);
    for (;;) {
      const settled = await checkApproval(batch, run, { expiresAt: open.expiresAt, state });
      if (settled) return settled;
      await wakeSignal.heard();
    }
  } finally {
    run.wake = undefined;
    batch.shown.delete(open.id);
    stopListening();
    traceApproval(batch, run, "assent.approval.answered");
  }
}

function listenForAnswers(batch: BatchRun, open: OpenApproval, state: WaitState, ring: () => void): () => void {
  const { session, policy, clock, warn } = batch.deps;
  const unsubscribe = policy.subscribe(ring);
  const watch = session.watch(
    (event) => {
      if (event.type === "grant.created") state.grants = true;
      ring();
    },
    (error) => {
      state.failure = error;
      ring();
    },
  );
  const late = (): void => {
    state.expired = true;
    ring();
  };
  const now = Math.max(clock.now(), Date.parse(session.state.at)); // setting the clock back does not extend the deadline
  const deadline = open.expiresAt === null ? undefined : clock.timer(Math.max(0, Date.parse(open.expiresAt) - now), late, LIMIT);
  const asking = new AbortController();
  askApprover(batch, open, asking.signal).then(
    (missing) => {
      state.missing = missing;
      ring();
    },
    (error: unknown) => {
      if (error instanceof LedgerError) {
        warn?.(`the approver's answer could not be stored: ${messageOf(error)}`); // the person can answer again
        return;
      }
      warn?.(`the approver failed: ${messageOf(error)}`);
      state.missing = "approver_failed"; // no answer is not consent: `onAsk` decides
      ring();
    },
  );
  return () => {
    watch.close();
    unsubscribe();
    deadline?.();
    asking.abort(new DOMException("The approval is settled.", "AbortError"));
  };
}

const LIMIT = { keepsAlive: true } as const;

function tellWaiting(batch: BatchRun, run: CallRun): void {
  const event = "on_user_input";
  tellHooks(batch, run, event, () => ({
    ...toolHookInput(hookSession(batch, run), hookCall(run, event)),
    label: "tool confirmation",
  }));
}

/** Asks up to three times for a usable answer. */
async function askApprover(batch: BatchRun, open: OpenApproval, signal: AbortSignal): Promise<MissingAnswer | "preview" | undefined> {
  for (let bad = 0; bad < 3 && !signal.aborted; bad += 1) {
    const answer = await batch.deps.approver?.ask(open, signal);
    if (signal.aborted) return undefined;
    if (!answer) return "unasked";
    if (answer.outcome === "preview" && canPreview(open)) return "preview";
    if (await storeAnswer(batch, open, answer)) return undefined;
  }
  return signal.aborted ? undefined : "approver_failed";
}

/** A preview can be repeated, because files may have changed since. */
function canPreview({ details: { effect } }: OpenApproval): boolean {
  return effect?.state === "offered" || effect?.state === "shown";
}

async function storeAnswer({ deps, batch }: BatchRun, open: OpenApproval, answer: Answer): Promise<boolean> {
  try {
    const { approval = open.id, revision = open.revision } = answer;
    if (approval !== open.id) throw new AnswerError("bad_answer", `The answer is for ${approval}, but ${open.id} was asked.`);
    const full = { ...answer, approval, revision };
    refuseLostAnswer(full, await answerApproval(answerPorts(deps, batch.tools), full));
    return true;
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    deps.warn?.(error.message);
    return error.type === "already_answered";
  }
}

export type OpenWait = { readonly expiresAt: string | null; readonly state: WaitState };

/** Undefined if the approval is still open. */
export async function checkApproval(batch: BatchRun, run: CallRun, wait: OpenWait): Promise<WaitOutcome | undefined> {
  const { state } = wait;
  if (state.failure !== undefined) throw state.failure;
  if (run.stopped) return await stopBeforeClaim(batch, run, state.judged);
  const call = batch.deps.session.state.calls.get(run.callId);
  if (call?.state === "approved") return { go: call.consent };
  if (call?.state !== "waiting") throw new Error(`call ${run.callId} is ${call?.state ?? "gone"} while it waits`);
  if (call.approvalState !== "open") return { end: endClosedApproval(batch, run, call, state.judged) };
  if (state.expired || isPast(wait.expiresAt, batch.deps.clock, batch.deps.session.state.at)) {
    state.expired = false;
    await closeApproval(batch, run, "expired");
    return await checkApproval(batch, run, { ...wait, expiresAt: null });
  }
  return (await judgeWaiting(batch, run, { call, state })) ?? (await checkGrants(batch, run, { ...wait, call }));
}

const CLOSED_SOURCE: Readonly<Record<string, NotificationSource>> = {
  rejected: answerSource({ outcome: "reject" }),
  expired: EXPIRED,
  cancelled: CANCELED,
};

function endClosedApproval(batch: BatchRun, run: CallRun, call: WaitingCall, judged: JudgedCall): ReturnType<typeof closedApprovalEnding> {
  notifyVerdict(batch, run, { judged, source: CLOSED_SOURCE[call.approvalState] ?? decidedSource(judged.decision) });
  if (call.approvalState === "rejected") batch.forgiven.delete(call.shown);
  if (call.interrupt) skipRest(batch, "interrupted");
  return closedApprovalEnding(judged, call);
}

/** A stricter policy applies at once, a looser one does not; a changed request is shown again. */
async function judgeWaiting(
  batch: BatchRun,
  run: CallRun,
  { call, state }: { readonly call: WaitingCall; readonly state: WaitState },
): Promise<WaitOutcome | undefined> {
  const { judged } = state;
  const same = batch.policy().revision === judged.policy.revision && batch.lanes.unsafe === judged.unsafeRuns;
  if (same && !run.askAgain) return undefined;
  run.askAgain = false;
  state.judged = await rejudgeCall(batch, run, judged);
  if (state.judged.decision.verdict !== "deny")
    return state.judged.request.fingerprint === call.shown ? undefined : { changed: state.judged };
  await closeApproval(batch, run, "denied");
  notifyVerdict(batch, run, { judged: state.judged, source: decidedSource(state.judged.decision) });
  return { end: denialEnding(state.judged, true) };
}

async function checkGrants(
  batch: BatchRun,
  run: CallRun,
  { call, state }: OpenWait & { readonly call: WaitingCall },
): Promise<WaitOutcome | undefined> {
  if (state.grants) {
    state.grants = false;
    if (await answerByGrant(batch, run, { call, judged: state.judged }))
      return await checkApproval(batch, run, { expiresAt: call.expiresAt, state });
  }
  return state.missing;
}
