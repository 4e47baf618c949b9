import type { Consent } from "../../model/call.ts";
import type { ConfirmationDetails } from "../../model/confirmation.ts";
import type { Circumstances, Decision, Verdict } from "../../model/decision.ts";
import type { Request } from "../../model/request.ts";
import type { Coercion } from "../../model/schema/coerce.ts";
import type { Policy, RequestFacts } from "../../ports.ts";
import type { Invocation, Tool } from "../../tool-definition.ts";
import type { Ending } from "../dispatch.ts";

/** The combined opinion of the `pre_tool_use` hooks on one call. */
export type HookView = {
  readonly verdict: Verdict | undefined;
  readonly name: string;
  readonly reason: string | undefined;
};

/** A call with a known tool and a valid input. Later steps add fields to this record. */
export type ParsedCall = {
  readonly tool: Tool;
  readonly invocation: Invocation;
  readonly coercions: readonly Coercion[];
  readonly hook: HookView | undefined;
};

/** A judged request: frozen, with the decision on it and the policy it was made under. */
export type Assessment = {
  readonly request: Request;
  readonly decision: Decision;
  readonly facts: RequestFacts;
  /** May run beside other calls. */
  readonly safe: boolean;
  readonly policy: Policy;
  /** What the decision considered, to explain parts of the request. */
  readonly circumstances: Circumstances;
};

/** The judgement on a call, which may be about something else than its own input. */
export type CallAssessment = Assessment & {
  /** What rules and grants apply to, if not the request: the effect of `resolve`, or the reading of a preview. */
  readonly subject?: Assessment | undefined;
  /** The call only stages what it would do. */
  readonly stages?: boolean | undefined;
  /** How a person is asked, if the tool itself does not say. */
  readonly asking?: ApprovalTexts | undefined;
  /** Why the call cannot run, if no rule says so. */
  readonly refusal?: Ending | undefined;
};

/** What a person is shown, and the model's texts without an approval. */
export type ApprovalTexts = {
  readonly details?: ConfirmationDetails;
  readonly unattended?: string | undefined;
  readonly rejected?: ((reason: string | undefined) => { readonly type: string; readonly text: string }) | undefined;
};

/** A call with its frozen request and the decision on it. */
export type JudgedCall = ParsedCall &
  CallAssessment & {
    /** How many unsafe calls of the batch had run when the facts were gathered. */
    readonly unsafeRuns: number;
  };

/** A call that may run, and the consent it runs on; null if no one had to be asked. */
export type PermittedCall = JudgedCall & { readonly consent: Consent | null };

/** Why a call leaves the pipeline before its effect: it ends, or it waits for a later process, for this approval or behind another call. */
export type CallExit = { readonly end: Ending } | { readonly parked: string | undefined };

/** The call was judged anew and goes back to the permission step. */
export type JudgedAgain = { readonly again: JudgedCall };

export function isExit(step: object): step is CallExit {
  return "end" in step || "parked" in step;
}
