import type { Verdict } from "../model/decision.ts";
import { toolHookInput } from "../model/hook-input.ts";
import type { JsonObject } from "../model/json.ts";
import type { Maybe } from "../tool-definition.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import { type Taken } from "./intake.ts";
/** What the `pre_tool_use` hooks said, as the judge and the model need it. */
export type HookView = {
  readonly verdict: Verdict | undefined;
  readonly name: string;
  readonly reason: string | undefined;
  readonly context: string | undefined;
};
/** The call as hooks left it: rewriting happens here, before anyone judges, and never again. */
export type Rewritten = {
  readonly taken: Taken;
  readonly hook: HookView | undefined;
};
/** Consults the `pre_tool_use` hooks; a changed input is validated again, and an invalid one, like a failing hook, denies. */
export declare function rewrite(batch: BatchRun, run: CallRun, taken: Taken): Maybe<Rewritten>;
/** Who the session is, for hooks. */
export declare function hookSession(batch: BatchRun, run: CallRun): Parameters<typeof toolHookInput>[0];
type Changing = {
  readonly taken: Taken;
  readonly hook: HookView;
  readonly changed: JsonObject | undefined;
};
/** Formatting is no difference. An invalid rewrite is denied: never the original instead. */
export declare function withInput(batch: BatchRun, run: CallRun, { taken, hook, changed }: Changing): Promise<Rewritten>;
