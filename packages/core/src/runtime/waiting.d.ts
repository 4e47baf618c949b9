import type { Yes } from "../model/call.ts";
import type { OpenApproval } from "../ports.ts";
import type { BatchRun, CallRun, Step } from "./call-run.ts";
import { type Ready } from "./judge.ts";
/** What waiting comes to. `unasked`: the approver gave nothing, and `onAsk` decides. `changed`: what was shown is no longer what would run. */
export type Waited =
  | Step<Yes>
  | "unasked"
  | {
      readonly changed: Ready;
    };
/** What may change while a person thinks. */
type WaitState = {
  nobody: boolean;
  grants: boolean;
  expired: boolean;
  ready: Ready;
};
/** Waits for an answer from anywhere: this process's approver, another process, a grant, the deadline, a changed policy, a cancel. */
export declare function waitForAnswer(
  batch: BatchRun,
  run: CallRun,
  {
    ready,
    open,
  }: {
    readonly ready: Ready;
    readonly open: OpenApproval;
  },
): Promise<Waited>;
/** An approval, as far as looking at it needs. */
export type Looking = {
  readonly expiresAt: string | null;
  readonly state: WaitState;
};
/** What the ledger, the clock, the policy and the person say now; undefined: nothing yet. */
export declare function look(batch: BatchRun, run: CallRun, looking: Looking): Promise<Waited | undefined>;
