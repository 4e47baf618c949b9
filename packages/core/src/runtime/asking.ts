import type { Call, Yes } from "../model/call.ts";
import type { ConfirmationDetails } from "../model/confirmation.ts";
import { toolHookInput } from "../model/hook-input.ts";
import {
  answerSource,
  CANCELED,
  decidedSource,
  EXPIRED,
  type NotificationSource,
  RUN_STOPPED,
  UNATTENDED,
} from "../model/notification-source.ts";
import type { OpenApproval } from "../ports.ts";
import { AnswerError, answerApproval, isPast } from "./answer-approval.ts";
import type { BatchRun, CallRun, Step } from "./call-run.ts";
import { confirmationOf } from "./confirming.ts";
import { denial, standingEnd, stopped, unattended } from "./endings.ts";
import { askingUnits, type GrantAnswer, grantAnswer } from "./grants.ts";
import { type Ready, rejudge } from "./judge.ts";
import { notify } from "./notify.ts";
import { patternRules } from "./pattern-rules.ts";
import { answerPorts } from "./requests.ts";
import { hookSession } from "./rewrite.ts";

/** What asking a person comes to. */
export type Asked = Step<Yes> | { readonly parked: string };

type Waiting = Extract<Call, { readonly state: "waiting" }>;

/** Opens the approval (or finds it open), shows it, and waits until somebody, somewhere, settles it. */
export async function askPerson(batch: BatchRun, run: CallRun, ready: Ready): Promise<Asked> {
  const { deps } = batch;
  run.resumed = true;
  const reachable = deps.approver?.available() === true;
  if (!reachable && (deps.onAsk ?? "deny") !== "park") return refuseUnattended(batch, run, ready);
  const open = await openApproval(batch, run, ready);
  if (!reachable) return { parked: open.id };
  return await waitForAnswer(batch, run, { ready, open });
}

/** `deny` asks nobody; `fail` leaves a record of what was asked and ends the rest of the batch. */
async function refuseUnattended(batch: BatchRun, run: CallRun, ready: Ready): Promise<Asked> {
  const call = batch.deps.session.state.calls.get(run.callId);
  if (batch.deps.onAsk === "fail" && call?.state === "judged") await openApproval(batch, run, ready);
  await closeApproval(batch, run, "cancelled");
  if (batch.deps.onAsk === "fail") batch.skipRest("stopped");
  notify(batch, run, { ready, source: UNATTENDED });
  return { end: unattended(ready.request.tool) };
}

/** The open approval for exactly this request; opened now, under a higher revision where an older one asked about something else. */
async function openApproval(batch: BatchRun, run: CallRun, ready: Ready): Promise<OpenApproval> {
  const { session, ids, clock, approvalTimeoutMs } = batch.deps;
  const call = session.state.calls.get(run.callId);
  const before = call?.state === "waiting" || call?.state === "approved" ? call : undefined;
  const details = await confirmationOf(batch, run, ready);
  const same = before?.state === "waiting" && before.standing === "open" && before.shown === ready.request.fingerprint;
  const expiresAt = approvalTimeoutMs === undefined ? null : new Date(clock.now() + approvalTimeoutMs).toISOString();
  const open = describeApproval(batch, run, {
    ready,
    details,
    expiresAt,
    id: before?.approval ?? ids.next("a_"),
    revision: (before?.revision ?? 0) + (same ? 0 : 1),
  });
  if (!same) {
    const { id: approval, revision, fingerprint, tool, title, reason, source, rule, explicitAsk, suggestions } = open;
    const body = {
      approval,
      call: run.callId,
      revision,
      fingerprint,
      tool,
      title,
      reason,
      source,
      rule,
      explicitAsk,
      details,
      facts: ready.facts.view ?? null,
      suggestions,
      expiresAt,
    };
    await session.record([session.draft("approval.opened", body)], "full");
  }
  batch.emit({
    type: "confirmation",
    callId: run.callId,
    agentName: batch.batch.agentName,
    approvalId: open.id,
    revision: open.revision,
    tool: open.tool,
    details,
  });
  return open;
}

type Describing = {
  readonly ready: Ready;
  readonly details: ConfirmationDetails;
  readonly expiresAt: string | null;
  readonly id: string;
  readonly revision: number;
};

function describeApproval({ deps, batch }: BatchRun, run: CallRun, { ready, details, expiresAt, id, revision }: Describing): OpenApproval {
  const { request, decision } = ready;
  return {
    id,
    revision,
    sessionId: deps.session.id,
    callId: run.callId,
    tool: request.tool,
    title: details.title ?? ready.taken.tool.title,
    fingerprint: request.fingerprint ?? "",
    input: request.input,
    cwd: request.cwd,
    reason: decision.reason,
    source: decision.source,
    rule: decision.rule ?? null,
    explicitAsk: decision.explicitAsk,
    details,
    suggestions: decision.explicitAsk ? [] : (deps.rules ?? patternRules).offer(request),
    expiresAt,
    ...(batch.agentName !== undefined && { agentName: batch.agentName }),
  };
}

type Open = { readonly ready: Ready; readonly open: OpenApproval };

/** A bell that is heard even when it rings before anyone listens. */
function makeBell(): { readonly ring: () => void; readonly heard: () => Promise<void> } {
  let rung = false;
  let listener: (() => void) | undefined;
  return {
    ring: () => {
      rung = true;
      listener?.();
    },
    heard: async () => {
      if (!rung) await new Promise<void>((resolve) => (listener = resolve));
      rung = false;
      listener = undefined;
    },
  };
}

async function waitForAnswer(batch: BatchRun, run: CallRun, asked: Open): Promise<Asked> {
  const { session, policy, clock } = batch.deps;
  const bell = makeBell();
  const state = { nobody: false, grants: false, ready: asked.ready };
  run.wake = bell.ring;
  batch.shown.set(asked.open.id, asked.open);
  const watch = session.watch((event) => {
    if (event.type === "grant.created") state.grants = true;
    bell.ring();
  });
  const unsubscribe = policy.subscribe(bell.ring);
  const deadline =
    asked.open.expiresAt === null ? undefined : clock.timer(Math.max(0, Date.parse(asked.open.expiresAt) - clock.now()), bell.ring);
  const asking = new AbortController();
  tellWaiting(batch, run, asked.ready);
  showTo(batch, asked.open, asking.signal).then(
    (gave) => {
      state.nobody = !gave;
      bell.ring();
    },
    (error: unknown) => batch.deps.warn?.(`the approver failed: ${error instanceof Error ? error.message : String(error)}`),
  );
  try {
    for (;;) {
      const settled = await look(batch, run, { ...asked, state });
      if (settled) return settled;
      await bell.heard();
    }
  } finally {
    run.wake = undefined;
    batch.shown.delete(asked.open.id);
    watch.close();
    unsubscribe();
    deadline?.();
    asking.abort();
  }
}

function tellWaiting(batch: BatchRun, run: CallRun, { request }: Ready): void {
  if (!batch.deps.hooks) return;
  const input = toolHookInput(hookSession(batch, run), {
    event: "on_user_input",
    tool: request.tool,
    kind: request.kind,
    callId: run.callId,
    input: request.input,
  });
  batch.deps.hooks.tell("on_user_input", { ...input, label: "tool confirmation" });
}

/** Carries the approval to the person and their answer to the ledger. False: this way gives none. A bad answer is asked again. */
async function showTo(batch: BatchRun, open: OpenApproval, signal: AbortSignal): Promise<boolean> {
  for (let bad = 0; bad < 3 && !signal.aborted; bad += 1) {
    const answer = await batch.deps.approver?.ask(open, signal);
    if (signal.aborted) return true;
    if (!answer) return false;
    try {
      await answerApproval(answerPorts(batch), { ...answer, approval: open.id, revision: answer.revision ?? open.revision });
      return true;
    } catch (error) {
      if (!(error instanceof AnswerError)) throw error;
      batch.deps.warn?.(error.message);
    }
  }
  return false;
}

type Looking = Open & { readonly state: { readonly nobody: boolean; grants: boolean; ready: Ready } };

/** What the ledger, the clock, the policy and the person say now; undefined: nothing yet. */
async function look(batch: BatchRun, run: CallRun, { open, state }: Looking): Promise<Asked | undefined> {
  const { session } = batch.deps;
  if (run.stopped) {
    await closeApproval(batch, run, "cancelled");
    notify(batch, run, { ready: state.ready, source: run.stopped === "skipped" ? RUN_STOPPED : CANCELED });
    return { end: stopped(run) };
  }
  const call = session.state.calls.get(run.callId);
  if (call?.state === "approved") return { go: call.yes };
  if (call?.state !== "waiting") throw new Error(`call ${run.callId} is ${call?.state ?? "gone"} while it waits`);
  if (call.standing !== "open") return { end: settle(batch, run, { call, ready: state.ready }) };
  if (isPast(open.expiresAt, batch.deps.clock)) return await closeThen(batch, run, "expired");
  if (batch.policy().revision !== state.ready.policy.revision) {
    const denied = await judgeWaiting(batch, run, state);
    if (denied) return denied;
  }
  if (state.grants) {
    state.grants = false;
    if (await answeredByGrant(batch, run, { call, ready: state.ready })) return undefined;
  }
  if (!state.nobody) return undefined;
  return batch.deps.onAsk === "park" ? { parked: open.id } : await refuseUnattended(batch, run, state.ready);
}

async function closeThen(batch: BatchRun, run: CallRun, outcome: "expired" | "cancelled"): Promise<undefined> {
  await closeApproval(batch, run, outcome);
  run.wake?.();
}

const STANDING_SOURCE: Readonly<Record<string, NotificationSource>> = {
  rejected: answerSource({ outcome: "reject" }),
  expired: EXPIRED,
  cancelled: CANCELED,
};

function settle(
  batch: BatchRun,
  run: CallRun,
  { call, ready }: { readonly call: Waiting; readonly ready: Ready },
): ReturnType<typeof standingEnd> {
  notify(batch, run, { ready, source: STANDING_SOURCE[call.standing] ?? decidedSource(ready.decision) });
  return standingEnd(ready.request.tool, call);
}

/** A tightened policy decides at once; a loosened one changes nothing for what already waits. */
async function judgeWaiting(batch: BatchRun, run: CallRun, state: { ready: Ready }): Promise<Asked | undefined> {
  state.ready = await rejudge(batch, run, state.ready);
  if (state.ready.decision.verdict !== "deny") return undefined;
  await closeApproval(batch, run, "denied");
  notify(batch, run, { ready: state.ready, source: decidedSource(state.ready.decision) });
  return { end: denial(state.ready, true) };
}

/** A grant made while this approval was open answers it too, by the same compare-and-set a person's answer goes through. */
async function answeredByGrant(
  batch: BatchRun,
  run: CallRun,
  { call, ready }: { readonly call: Waiting; readonly ready: Ready },
): Promise<boolean> {
  if (ready.decision.explicitAsk) return false;
  const grant: GrantAnswer | undefined = await grantAnswer(batch, ready, askingUnits(ready));
  const first = grant?.grants[0];
  if (!first || first.usesLeft !== undefined) return false;
  const { session } = batch.deps;
  const by = { kind: "grant", user: first.madeBy, name: first.id, door: first.scope, pid: session.holder.pid } as const;
  const body = {
    approval: call.approval,
    session: session.id,
    call: run.callId,
    revision: call.revision,
    outcome: "approved",
    fingerprint: call.shown,
    by,
    reason: null,
  } as const;
  const answer = await session.ledger.answer([session.draft("approval.answered", body)]);
  await session.caughtUp("won" in answer ? (answer.won[0]?.pos ?? 0) : answer.lost.pos);
  run.wake?.();
  return true;
}

/** Closes the call's approval, if one is open or its yes is unused; whoever was first stands. */
export async function closeApproval(batch: BatchRun, run: CallRun, outcome: "expired" | "cancelled" | "denied"): Promise<void> {
  const { session } = batch.deps;
  const call = session.state.calls.get(run.callId);
  if (call?.state !== "waiting" && call?.state !== "approved") return;
  if (call.approval === null || (call.state === "waiting" && call.standing !== "open")) return;
  const body = { approval: call.approval, session: session.id, call: run.callId, revision: call.revision, outcome, by: "runtime" };
  const watch = session.watch(() => undefined);
  try {
    const answer = await session.ledger.answer([session.draft("approval.closed", body)]);
    await session.caughtUp("won" in answer ? (answer.won[0]?.pos ?? 0) : answer.lost.pos);
  } finally {
    watch.close();
  }
  const now = session.state.calls.get(run.callId);
  if (now?.state === "approved" && outcome !== "expired") await closeApproval(batch, run, outcome); // a yes came first: take it back before the claim
}
