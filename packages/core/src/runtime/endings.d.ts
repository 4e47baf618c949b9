import type { Call } from "../model/call.ts";
import type { OutcomeState } from "../model/outcome.ts";
import type { CallRun } from "./call-run.ts";
import type { Ending } from "./dispatch.ts";
import type { Ready } from "./judge.ts";
/** An end the runtime itself makes: an error result with its type, and the same text for model and person. */
export declare function synthesised(state: OutcomeState, type: string, text: string): Ending;
/** Why a call was denied, told to the model by whoever denied. `waited`: the policy changed under a call that had been asked about. */
export declare function denial({ request, decision }: Ready, waited: boolean): Ending;
/** The end of a call whose approval closed without a yes. */
export declare function standingEnd(
  name: string,
  {
    standing,
    reason,
  }: Extract<
    Call,
    {
      readonly state: "waiting";
    }
  >,
): Ending;
/** An ask where nobody can be asked. The text never claims that a user declined. */
export declare function unattended(name: string): Ending;
/** The end of a call that somebody stopped before its body was done. */
export declare function stopped(run: CallRun): Ending;
