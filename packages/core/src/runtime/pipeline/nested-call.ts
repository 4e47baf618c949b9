import { GateError } from "../../errors.ts";
import type { ToolResult } from "../../model/result/result.ts";
import type { CallReport } from "../dispatch.ts";
import { freeId, proposedDraft } from "../propose.ts";
import { type BatchRun, type CallRun, makeRun, stopCall } from "./call-run.ts";

/** Runs a nested call of a running body: its own id, decision, approval and record; it does not wait for its parent's lane. */
export async function runNestedCall(
  batch: BatchRun,
  parent: CallRun,
  call: { readonly name: string; readonly arguments: unknown },
  runCall: (batch: BatchRun, run: CallRun) => Promise<CallReport>,
): Promise<ToolResult> {
  if (parent.phase === "after") throw new GateError("The call that asks for this has ended.", "no_running_call");
  const { session } = batch.deps;
  parent.children += 1;
  const callId = freeId(session, new Set([...batch.live].map((live) => live.callId)), `${parent.callId}/${parent.children}`);
  const run = makeRun({ callId, index: -1, name: call.name, arguments: call.arguments, nested: true });
  batch.live.add(run);
  const end = (): void => stopCall(run, parent.stopped ?? "cancelled");
  if (parent.abort.signal.aborted) end();
  parent.abort.signal.addEventListener("abort", end, { once: true });
  try {
    await session.record([proposedDraft(session, run, session.state.turn)], "normal");
    const running = runCall(batch, run);
    batch.nested.push(running);
    return resultOf(await running);
  } finally {
    batch.live.delete(run);
    parent.abort.signal.removeEventListener("abort", end);
  }
}

function resultOf(report: CallReport): ToolResult {
  if (report.outcome === "waiting") throw new GateError("The nested call waits for a person and was not run.", "waiting");
  if (report.outcome !== "succeeded") throw new GateError(report.result.error?.message ?? report.outcome, report.type ?? report.outcome);
  return report.result;
}
