import {
  type BatchReport,
  type CallReport,
  type Dispatcher,
  type EventBodies,
  isObject,
  type Json,
  type Ledger,
  openSession,
  readCallRecord,
  readWholeQuestion,
  type Session,
} from "@assent/core";
import type { Context } from "../command-line/spec.ts";
import { createSessionDispatcher } from "../compose/dispatcher.ts";
import { type CallFlags, flagsForRecord, mergeResumedFlags, type OnAsk, readFlags, readOnAsk } from "../compose/flags.ts";
import { type FollowedPolicy, followPolicy } from "../compose/follow-policy.ts";
import { commandHolder, keepAlive } from "../compose/keep-alive.ts";
import type { WorkPlace } from "../compose/place.ts";
import { titleFrom } from "../compose/redaction.ts";
import { approvalSubject } from "../desk/approvals/view.ts";
import { type WaitingItem, waitingKind } from "../desk/approvals/waiting-list.ts";
import { questionSubject } from "../desk/questions/view.ts";
import { closeReason } from "../headless/run/outcome.ts";
import { CommandError } from "../io/failure.ts";
import { findRow } from "../store/find-row.ts";
import type { Store } from "../store/store.ts";
import { VERSION } from "../version.ts";
import { type CallEnd, exitOf, modelContent } from "./end.ts";

/** `failure`: the end could not be recorded. */
export type CallResult = { readonly end: CallEnd; readonly exit: number; readonly failure?: unknown };

export type NewCall = {
  readonly tool: string;
  readonly text: string;
  readonly flags: CallFlags;
  readonly place: WorkPlace;
  readonly policy: FollowedPolicy;
};

export function beginCall(context: Context, store: Store, call: NewCall): Promise<CallResult> {
  return keepAlive(context, store, async ({ ports, cancelling }) => {
    const { policy } = call;
    const session = await openSession(
      { ledger: store.ledger, ...ports },
      { holder: commandHolder(context, "call"), create: firstRecord(call, readOnAsk(context)) },
    );
    policy.serve(session.id);
    const unattended = policy.source.settings().onAsk;
    const { dispatcher, close } = await createSessionDispatcher(context, {
      session,
      ports,
      policy,
      cancelling,
      onAsk: readOnAsk(context),
      unattended,
    });
    const calls = [{ name: call.tool, arguments: call.text }];
    const batch = await dispatcher.process({ calls, tools: policy.tools, signal: cancelling.signal }).finally(close);
    refuseUnrecorded(dispatcher);
    return leave(session, await callEnd(store.ledger, session.id, batch.results[0], batch));
  });
}

/** An unrecorded end must not be reported: another process may have recorded a different one. */
function refuseUnrecorded(dispatcher: Dispatcher): void {
  const failure = dispatcher.failure();
  if (failure !== undefined) throw failure;
}

/** Returns undefined if the session never had a call. */
export function resumeCall(
  context: Context,
  store: Store,
  { id, cwd }: { readonly id: string; readonly cwd: string | undefined },
): Promise<CallResult | undefined> {
  return keepAlive(context, store, async ({ ports, cancelling }) => {
    const { ledger } = store;
    const opened = await openSession(
      { ledger, ...ports },
      { holder: commandHolder(context, "resume"), id, takeOver: context.options.flag("take-over") },
    );
    const session = inDirectory(opened, cwd);
    const flags = mergeResumedFlags(session.state.created?.options, context);
    const policy = await followPolicy(context, { workspace: session.state.created?.workspace ?? "", flags, ledger });
    policy.serve(session.id);
    const { dispatcher, close } = await createSessionDispatcher(context, {
      session,
      ports,
      policy,
      cancelling,
      onAsk: readOnAsk(context),
      unattended: "park",
      mode: readFlags(context).mode,
    });
    const batch = await dispatcher.resume({ tools: policy.tools, signal: cancelling.signal }).finally(close);
    refuseUnrecorded(dispatcher);
    const callId = await onlyCall(ledger, id);
    if (callId === undefined) {
      await session.close("done", 0);
      return undefined;
    }
    const report = batch.results.find((result) => result.callId === callId);
    return leave(session, report ? await callEnd(ledger, id, report, batch) : await recordedEnd(ledger, id, callId));
  });
}

export async function endedCall(ledger: Ledger, id: string): Promise<CallEnd | "no call" | "open"> {
  const callId = await onlyCall(ledger, id);
  if (callId === undefined) return "no call";
  const { "call.ended": ended } = await readCallRecord(ledger, id, callId);
  return ended ? recordedEnd(ledger, id, callId) : "open";
}

function firstRecord({ tool, text, flags, place, policy }: NewCall, onAsk: OnAsk | undefined): EventBodies["session.created"] {
  const { mode, revision } = policy.source.current();
  return {
    ...place,
    door: "call",
    mode,
    model: null,
    version: VERSION,
    parent: null,
    agent: null,
    policy: revision,
    title: titleFrom(`${tool} ${text.trim()}`, policy.source.settings()),
    options: flagsForRecord(flags, onAsk),
  };
}

/** Changes the directory, so that its open call is asked again. */
export function inDirectory(session: Session, cwd: string | undefined): Session {
  const { created } = session.state;
  if (cwd === undefined || !created) return session;
  return { ...session, state: Object.create(session.state, { created: { value: { ...created, cwd }, enumerable: true } }) };
}

/** Later calls are made by the body of the first one's tool. */
async function onlyCall(ledger: Ledger, session: string): Promise<string | undefined> {
  for await (const { body } of ledger.read({ session, seq: 0 }, { session, types: ["call.proposed"] })) return String(body["call"]);
  return undefined;
}

async function recordedEnd(ledger: Ledger, sessionId: string, callId: string): Promise<CallEnd> {
  const { "call.ended": ended } = await readCallRecord(ledger, sessionId, callId);
  if (!ended) throw new CommandError("store_corrupt", 1, { message: `Call ${callId} has no recorded end.`, hint: "assent verify" });
  return { sessionId, callId, outcome: ended.outcome, type: ended.type, content: modelContent(ended.content) };
}

async function callEnd(ledger: Ledger, sessionId: string, report: CallReport | undefined, batch: BatchReport): Promise<CallEnd> {
  if (!report) throw new Error("the runtime gave no report of the call");
  const { callId } = report;
  if (report.outcome !== "waiting") {
    const { outcome, type, result } = report;
    const ended = { sessionId, callId, outcome, type, content: modelContent(result.content) };
    const stopped = batch.stopRun ? { stopReason: batch.stopMessage } : {};
    const staged = stagedBy(result.details);
    if (type !== "denied_unattended") return { ...ended, ...stopped, ...(staged !== undefined && { staged }) };
    const { "call.judged": judged } = await readCallRecord(ledger, sessionId, callId);
    return { ...ended, ...stopped, insisted: judged?.explicitAsk === true };
  }
  const approvalId = report.approvalId ?? "";
  return { sessionId, callId, outcome: "waiting", approvalId, ...(await waitingSubject(ledger, approvalId)) };
}

function stagedBy(details: Json | undefined): string | undefined {
  if (!isObject(details) || details["applied"] !== false) return undefined;
  return typeof details["proposalId"] === "string" ? details["proposalId"] : undefined;
}

async function waitingSubject(ledger: Ledger, id: string): Promise<Pick<WaitingItem, "subject" | "previewed">> {
  if (waitingKind(id) === "questions")
    return { subject: questionSubject((await readWholeQuestion(ledger, await findRow(ledger, "questions", id))).questions) };
  const row = await findRow(ledger, "approvals", id);
  const subject = approvalSubject({ ...row, details: await ledger.resolve(row.details) });
  return row.preview?.writable ? { subject, previewed: true } : { subject };
}

/** Records the end before it is printed; the outcome is reported even if that fails. */
async function leave(session: Session, end: CallEnd): Promise<CallResult> {
  const exit = exitOf(end);
  try {
    await session.close(closeReason(exit), exit);
    return { end, exit };
  } catch (failure) {
    return { end, exit: 1, failure };
  }
}
