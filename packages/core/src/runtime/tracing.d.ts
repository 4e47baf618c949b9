import type { Yes } from "../model/call.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import type { Ending } from "./dispatch.ts";
import type { Ready } from "./judge.ts";

type Traced = {
  readonly ready: Ready;
  readonly yes: Yes | null;
  readonly body: () => Promise<Ending>;
};
/** Runs the body inside one span, where there is a tracer. A throwing tracer changes nothing. */
export declare function traced(batch: BatchRun, run: CallRun, what: Traced): Promise<Ending>;
/** A call that never ran has a span of no length, with its error's type. */
export declare function traceUnrun(batch: BatchRun, run: CallRun, end: Ending): void;
/** No span stays open while a person thinks: asking and answering are events on short spans. */
export declare function traceApproval(batch: BatchRun, run: CallRun, event: "assent.approval.requested" | "assent.approval.answered"): void;
