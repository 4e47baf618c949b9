import type { BatchRun, CallRun } from "./call-run.ts";
import type { CallReport } from "./dispatch.ts";
/** The one function that can run a tool. Every path ends in exactly one report; a throw anywhere fails closed, here. */
export declare function runCall(batch: BatchRun, run: CallRun): Promise<CallReport>;
