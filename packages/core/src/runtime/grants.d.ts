import type { GrantRow } from "../ledger-port.ts";
import type { Call, Yes } from "../model/call.ts";
import type { GrantScope } from "../model/grant.ts";
import type { Unit } from "../model/request.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import type { Ready } from "./judge.ts";
/** The grants that together answer an ask; `scope` is that of the first. */
export type GrantAnswer = {
  readonly scope: GrantScope;
  readonly grants: readonly GrantRow[];
};
/** Looks for grants that cover every unit that asks. Only ever called for an ask that nobody insisted on. */
export declare function grantAnswer({ deps }: BatchRun, { request }: Ready, units: readonly Unit[]): Promise<GrantAnswer | undefined>;
/** The units a grant must cover: those that, judged alone, nobody allows. */
export declare function askingUnits({ request, policy }: Ready): readonly Unit[];
/** Consumes one use of each counted grant, then records the yes. Undefined: a use was gone by then, so nothing was answered. */
export declare function applyGrant(
  batch: BatchRun,
  run: CallRun,
  {
    ready,
    grant,
  }: {
    readonly ready: Ready;
    readonly grant: GrantAnswer;
  },
): Promise<Yes | undefined>;
/** A grant made while an approval is open answers it by the same compare-and-set a person's answer goes through. */
export declare function answerByGrant(batch: BatchRun, run: CallRun, { call, ready }: Covering): Promise<boolean>;
type Covering = {
  readonly call: Extract<
    Call,
    {
      readonly state: "waiting";
    }
  >;
  readonly ready: Ready;
};
