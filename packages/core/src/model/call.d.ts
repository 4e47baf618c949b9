import type { Verdict } from "./decision.ts";
import type { LedgerEvent } from "./events.ts";
import type { Kind } from "./kind.ts";
import type { Outcome } from "./outcome.ts";
/** What the newest judgement found; the judged input itself stays in the ledger, at `seq`. */
export type Judged = {
  readonly seq: number;
  readonly tool: string;
  readonly kind: Kind;
  readonly safe: boolean;
  readonly fingerprint: string | undefined;
  readonly verdict: Verdict;
  readonly explicitAsk: boolean;
  readonly policy: string;
};
/** The yes in force: where it stands, what it covers, who gave it. */
export type Yes = {
  readonly pos: number;
  readonly covers: string | undefined;
  readonly by: "person" | "host" | "grant" | "hook";
  /** The grant's or hook's id, or the person's name. */
  readonly id: string;
  readonly edited: boolean;
  /** The stable word for who said yes, as decision notifications carry it. */
  readonly source: string;
};
/** How an approval stands that did not end in a yes. */
export type Standing = "open" | "rejected" | "expired" | "cancelled" | "denied";
/**
 * A call from proposal to outcome.
 *
 * proposed ─judged▶ judged ─opened▶ waiting ─answered▶ approved ─claimed▶ claimed ─ended▶ ended
 * A judged allow is claimed at once; a grant or hook leads from judged to approved; an approved call may be asked about again.
 */
export type Call = {
  readonly callId: string;
  readonly tool: string;
  readonly seq: number;
  readonly index: number;
} & (
  | {
      readonly state: "proposed";
    }
  | {
      readonly state: "judged";
      readonly judged: Judged;
    }
  | {
      readonly state: "waiting";
      readonly judged: Judged;
      readonly approval: string;
      readonly revision: number;
      readonly shown: string;
      readonly expiresAt: string | null;
      readonly standing: Standing;
      readonly reason: string | null;
      /** The no ends the whole batch. */
      readonly interrupt: boolean;
    }
  | {
      readonly state: "approved";
      readonly judged: Judged;
      readonly approval: string | null;
      readonly revision: number;
      readonly yes: Yes;
    }
  | {
      readonly state: "claimed";
      readonly judged: Judged;
      readonly attempt: number;
      readonly claimedAt: string;
      readonly key: string | null;
      readonly process: {
        readonly pid: number;
        readonly pgid: number;
        readonly processStart: string;
      } | null;
    }
  | {
      readonly state: "ended";
      readonly outcome: Outcome;
    }
);
/** The only way a call changes. Undefined: this event is not legal in this state. */
export declare function next(call: Call | undefined, event: LedgerEvent): Call | undefined;
