import { type BatchRun, type CallRun } from "./call-run.ts";
import type { CallReport } from "./dispatch.ts";
import type { Gate } from "./effect.ts";
/** An error a body gets when its nested action was not run, with the outcome's type. */
export declare class GateError extends Error {
  readonly type: string;
  constructor(message: string, type: string);
}
/** Lets a running body propose a nested call: its own id, decision, approval and record; it does not wait for its parent's lane. */
export declare function makeGate(batch: BatchRun, parent: CallRun, runCall: (batch: BatchRun, run: CallRun) => Promise<CallReport>): Gate;
