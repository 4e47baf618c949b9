import type { BatchRun, CallRun } from "./call-run.ts";
import type { CallReport, Ending } from "./dispatch.ts";
/** Ends a call: transform → cut → record → emit → post-tool hooks. Exactly one record and one response per call. */
export declare function endCall(batch: BatchRun, run: CallRun, ending: Ending): Promise<CallReport>;
