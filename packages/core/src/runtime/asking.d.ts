import type { Yes } from "../model/call.ts";
import type { BatchRun, CallRun, Step } from "./call-run.ts";
import type { Ready } from "./judge.ts";
/** What asking a person comes to. */
export type Asked =
  | Step<Yes>
  | {
      readonly parked: string;
    };
/** Opens the approval (or finds it open), shows it, and waits until somebody, somewhere, settles it; what changed meanwhile is shown again. */
export declare function askPerson(batch: BatchRun, run: CallRun, ready: Ready): Promise<Asked>;
