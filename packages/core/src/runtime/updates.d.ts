import type { Display } from "../model/result.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
/** The live display of one running call: at most 20 updates a second reach observers, the last one always. */
export declare function makeUpdates(
  batch: BatchRun,
  run: CallRun,
): {
  readonly update: (display: Display) => void;
  readonly end: () => void;
};
