import type { Remember } from "./answer.ts";
import type { Decision, Verdict } from "./decision.ts";
import type { GrantScope } from "./grant.ts";
/** The stable strings of a decision notification; existing consumers match on them, also on the one l of `canceled`. */
export type NotificationSource = {
  readonly decision: "allow" | "deny" | "canceled";
  readonly source: string;
};
/** A verdict that judging made final. An ask that nobody answered is no yes, so it is told as a deny of whoever asked. */
export declare function decidedSource(decision: Decision): NotificationSource;
/** A grant answered the ask. */
export declare function grantSource(scope: GrantScope): NotificationSource;
/** A `permission_request` hook answered the ask. */
export declare function permissionHookSource(verdict: Exclude<Verdict, "ask">): NotificationSource;
/** A person answered. Give `remember` only as far as it was honoured: an "always" that counted once is a plain yes. */
export declare function answerSource(answer: { readonly outcome: "approve" | "reject"; readonly remember?: Remember }): NotificationSource;
/** Nobody could be asked. */
export declare const UNATTENDED: NotificationSource;
/** Nobody answered in time. */
export declare const EXPIRED: NotificationSource;
/** Cancelled while waiting, or before there was a verdict. */
export declare const CANCELED: NotificationSource;
/** A hook stopped the run while this call was waiting. */
export declare const RUN_STOPPED: NotificationSource;
