import type { BatchRun, CallRun, Step } from "./call-run.ts";
import { type Taken } from "./intake.ts";
import type { Ready } from "./judge.ts";
/** A judged call of an earlier process, ready to go on: the recorded input, bound to the tool it was judged for. */
export declare function restore(batch: BatchRun, run: CallRun): Promise<Step<Taken>>;
/** The input a person put in place of the one they were shown. */
export declare function editOf(batch: BatchRun, run: CallRun, { taken }: Ready): Promise<Step<Taken>>;
