import { type BatchRun, type CallRun } from "./call-run.ts";
import type { BatchReport, ProposedCall } from "./dispatch.ts";
/** The calls of a new batch, recorded as proposed; duplicates of an id end at once. */
export declare function propose(
  batch: BatchRun,
  calls: readonly ProposedCall[],
): {
  readonly runs: readonly CallRun[];
  readonly duplicates: ReadonlyMap<CallRun, string>;
};
/** Lets every call go its way at once and gives the reports in call order. */
export declare function runAll(batch: BatchRun, runs: readonly CallRun[], duplicates: ReadonlyMap<CallRun, string>): Promise<BatchReport>;
