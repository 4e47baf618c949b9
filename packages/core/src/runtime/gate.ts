import type { ToolResult } from "../model/result.ts";
import { type BatchRun, type CallRun, makeRun, stopCall } from "./call-run.ts";
import type { CallReport } from "./dispatch.ts";
import type { Gate } from "./effect.ts";
import { proposal } from "./propose.ts";

/** An error a body gets when its nested action was not run, with the outcome's type. */
export class GateError extends Error {
  readonly type: string;
  constructor(message: string, type: string) {
    super(message);
    this.name = "GateError";
    this.type = type;
  }
}

/** Lets a running body propose a nested call: its own id, decision, approval and record; it does not wait for its parent's lane. */
export function makeGate(batch: BatchRun, parent: CallRun, runCall: (batch: BatchRun, run: CallRun) => Promise<CallReport>): Gate {
  return async (call): Promise<ToolResult> => {
    parent.children += 1;
    const run = makeRun({
      callId: `${parent.callId}/${parent.children}`,
      index: -1,
      name: call.name,
      arguments: call.arguments,
      nested: true,
    });
    const { session } = batch.deps;
    await session.record([proposal(session, run, { turn: session.state.turn, givenId: null, calledAs: call.name })], "normal");
    const end = (): void => stopCall(run, parent.stopped ?? "cancelled");
    if (parent.abort.signal.aborted) end();
    parent.abort.signal.addEventListener("abort", end, { once: true });
    try {
      const report = await runCall(batch, run);
      if (report.outcome === "waiting") throw new GateError("The nested call waits for a person and was not run.", "waiting");
      if (report.outcome !== "succeeded")
        throw new GateError(report.result.error?.message ?? report.outcome, report.type ?? report.outcome);
      return report.result;
    } finally {
      parent.abort.signal.removeEventListener("abort", end);
    }
  };
}
