import type { Decision } from "../model/decision.ts";
import { type Request } from "../model/request.ts";
import type { Digest, Policy, RequestFacts } from "../ports.ts";
import type { Maybe } from "../tool-definition.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import { type Taken } from "./intake.ts";
import type { HookView } from "./rewrite.ts";
/** A call that was judged: the frozen request, the decision on it, and under what it was made. */
export type Ready = {
  readonly taken: Taken;
  readonly request: Request;
  readonly decision: Decision;
  readonly facts: RequestFacts;
  /** Runs beside others. */
  readonly safe: boolean;
  readonly policy: Policy;
  /** How many unsafe calls of the batch had run when the facts were gathered. */
  readonly unsafeRuns: number;
  readonly hook: HookView | undefined;
};
type Judging = {
  readonly taken: Taken;
  readonly hook: HookView | undefined;
  readonly editedBy?: string;
};
/** Assesses the call and records the decision. The record is on its way when this returns. */
export declare function judge(batch: BatchRun, run: CallRun, what: Judging): Maybe<Ready>;
/** Gathers facts, freezes the request and lets everyone speak. Nothing is recorded. */
export declare function assess(batch: BatchRun, run: CallRun, { taken, hook }: Judging): Maybe<Ready>;
/** The request with its fingerprint, computed when first needed. */
export declare function fingerprinted<R extends Request>(
  request: R,
  digest: Digest,
): R & {
  readonly fingerprint: string;
};
/** Looks at the world again and judges under the present policy; the input stays what it was. */
export declare function rejudge(batch: BatchRun, run: CallRun, { taken, hook }: Ready): Promise<Ready>;
/** What an outside service may know this call by: the same for every attempt. */
export declare function callKey({ deps }: BatchRun, run: CallRun, fingerprint: string | undefined): string;
