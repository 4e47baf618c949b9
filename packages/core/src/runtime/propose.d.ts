import type { Draft } from "../model/events.ts";
import type { CallRun } from "./call-run.ts";
import type { ProposedCall } from "./dispatch.ts";
import type { Session } from "./session.ts";
/** A call's first record: what the model sent, as far as it can be kept. */
export declare function proposal(session: Session, run: CallRun, about: Given): Draft<"call.proposed">;
type Given = {
  readonly turn: number;
  readonly givenId: string | null;
  readonly calledAs: string;
};
/** An id of its own for every call: a repeated or missing one gets one of ours, so that each has exactly one result. */
export declare function nameCalls(session: Session, calls: readonly ProposedCall[], next: () => string): readonly NamedCall[];
/** A call with the id it has from here on. */
export type NamedCall = {
  readonly call: ProposedCall;
  readonly givenId: string | null;
  readonly callId: string;
  readonly duplicate: boolean;
};
