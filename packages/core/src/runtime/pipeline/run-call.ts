import { LedgerError } from "../../ledger-port.ts";
import { mayBeUnderWay } from "../../model/call.ts";
import { decidedSource } from "../../model/notification-source.ts";
import { messageOf } from "../../model/result/thrown.ts";
import { modelText } from "../../model/text/model-text.ts";
import type { Maybe } from "../../tool-definition.ts";
import { closeApproval, stopBeforeClaim } from "../approval/close.ts";
import { isGrantedByPattern } from "../approval/grants.ts";
import type { CallReport, Ending } from "../dispatch.ts";
import { describeUnresolved } from "../proposal/resolve-call.ts";
import { askAgain, askQuestions, isAsking } from "../question/ask.ts";
import { type BatchRun, type CallRun, releaseSession, toolName } from "./call-run.ts";
import { claimCall } from "./claim.ts";
import { runBody } from "./effect.ts";
import { errorEnding, stoppedEnding } from "./endings.ts";
import { endCall } from "./finish.ts";
import { parseCall } from "./intake.ts";
import { isAsk, judgeCall } from "./judge.ts";
import { type CallExit, isExit, type PermittedCall } from "./judged-call.ts";
import { classifyLane, leaveLane, parkLane } from "./lanes.ts";
import { runNestedCall } from "./nested-call.ts";
import { notifyVerdict } from "./notify.ts";
import { passesUnasked, permitCall } from "./permission.ts";
import { restoreCall } from "./restore.ts";
import { rewriteCall } from "./rewrite.ts";
import { endSpan, startSpan } from "./tracing.ts";

/**
 * The one function that can run a tool: the drawing in ARCHITECTURE.md, step by step.
 * Every path ends in exactly one report, and a throw anywhere fails closed.
 */
export async function runCall(batch: BatchRun, run: CallRun): Promise<CallReport> {
  try {
    if (run.restore && isAsking(batch, run.callId)) return await endOrPark(batch, run, await askAgain(batch, run));

    // find tool → parse and validate
    const parsed = await (run.restore ? restoreCall(batch, run) : parseCall(batch, run));
    if (!parsed) return await exit(batch, run, await stopBeforeClaim(batch, run, undefined));
    if (isExit(parsed)) return await exit(batch, run, parsed);

    // rewrite (hooks) → validate again if rewritten
    const rewritten = run.resumed || !batch.deps.hooks ? parsed : await rewriteCall(batch, run, parsed);
    if (run.stopped && !run.resumed) return await exit(batch, run, await stopBeforeClaim(batch, run, undefined));

    // freeze + fingerprint → judge (checkers, mode, tool's own permission, hook opinions)
    let judged = await judgeCall(batch, run, rewritten);
    for (;;) {
      classifyLane(batch.lanes, run.index, judged.safe);

      // [ask: grants → permission hooks → approvers]
      const permitted = passesUnasked(batch, run, judged) ? { ...judged, consent: null } : await permitCall(batch, run, judged);
      if (isExit(permitted)) return await exit(batch, run, permitted);
      if ("again" in permitted) {
        judged = permitted.again;
        continue;
      }

      // take a lane → re-judge if policy or facts changed while waiting → claim (intent on disk)
      const claimed = await claimCall(batch, run, permitted);
      if (isExit(claimed)) return await exit(batch, run, claimed);
      if ("again" in claimed) {
        judged = claimed.again;
        continue;
      }

      // tell the decision
      const { consent, decision } = claimed;
      notifyVerdict(batch, run, {
        judged: claimed,
        source: consent ? { decision: "allow", source: consent.source } : decidedSource(decision),
      });

      // run, streaming updates
      const done = await (isAsk(batch, claimed) ? askQuestions(batch, run, claimed) : runEffect(batch, run, claimed));

      // transform result (hooks) → end, record, emit
      return await endOrPark(batch, run, done);
    }
  } catch (error) {
    return await failClosed(batch, run, error);
  } finally {
    releaseSession(run);
    if (leaveLane(batch.lanes, run.index)) wakeWaiting(batch);
  }
}

/** Runs the body of a claimed call inside a span. If no person saw the request, the body gets the plan that was judged. */
async function runEffect(batch: BatchRun, run: CallRun, claimed: PermittedCall): Promise<Ending> {
  const { consent, decision } = claimed;
  const span = startSpan(batch, run, claimed);
  const unseen = consent ? await isGrantedByPattern(batch, consent) : decision.byRules;
  const end = run.stopped
    ? stoppedEnding(run) // cancelled while the claim was being stored
    : await runBody(batch, run, { call: claimed, attempt: 1, gate: (call) => runNestedCall(batch, run, call, runCall), unseen });
  endSpan(batch, span, end);
  return end;
}

/** Ends a call before its effect. A call of `resolve` also tells what it was about. */
async function exit(batch: BatchRun, run: CallRun, step: CallExit): Promise<CallReport> {
  if ("parked" in step) return park(batch, run, step.parked);
  return await endCall(batch, run, run.target ? await describeUnresolved(batch, run, step.end) : step.end);
}

function endOrPark(batch: BatchRun, run: CallRun, done: Ending | { readonly parked: string | undefined }): Maybe<CallReport> {
  return "parked" in done ? park(batch, run, done.parked) : endCall(batch, run, done);
}

function park(batch: BatchRun, run: CallRun, approvalId: string | undefined): CallReport {
  if (parkLane(batch.lanes, run.index)) wakeWaiting(batch);
  return { callId: run.callId, outcome: "waiting", type: "waiting", ...(approvalId !== undefined && { approvalId }) };
}

/** After an unsafe call, waiting calls gather their facts again. */
function wakeWaiting({ runs }: BatchRun): void {
  for (const run of runs) if (run.phase === "before") run.wake?.();
}

/** Law 4: before the effect, a fault denies; after it, a store failure makes the outcome unknown. If the end cannot be recorded, nothing more runs. */
async function failClosed(batch: BatchRun, run: CallRun, error: unknown): Promise<CallReport> {
  const { deps } = batch;
  deps.warn?.(messageOf(error));
  run.abort.abort(error);
  const end = faultEnd(batch, run, error);
  try {
    if (!(error instanceof LedgerError)) await closeApproval(batch, run, "cancelled"); // a failing store, or a new writer, keeps what waits
    return await endCall(batch, run, end);
  } catch (failure) {
    const neverProposed = !deps.session.state.calls.has(run.callId); // leaves nothing open
    if (!neverProposed || isFinal(failure) || isFinal(error)) batch.broken.error ??= failure;
    return { callId: run.callId, outcome: end.state, type: end.type, result: end.result };
  }
}

/** Failures after which this writer can never record again. */
function isFinal(error: unknown): boolean {
  return error instanceof LedgerError && ["stale_writer", "store_io", "store_readonly", "store_corrupt", "store_lost"].includes(error.type);
}

function faultEnd({ deps }: BatchRun, run: CallRun, error: unknown): Ending {
  const name = toolName(run);
  const claimed = mayBeUnderWay(deps.session.state.calls.get(run.callId));
  if (claimed && error instanceof LedgerError) return errorEnding("unknown", "execution_unknown", modelText.execution_unknown({ name }));
  if (error instanceof LedgerError) return errorEnding("denied", "store_unavailable", modelText.store_unavailable({ name }));
  const text = `Tool '${name}' was not completed: ${messageOf(error)}`;
  return errorEnding(claimed ? "failed" : "denied", "unhandled_exception", text);
}
