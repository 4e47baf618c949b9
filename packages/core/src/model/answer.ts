import type { GrantScope } from "./grant.ts";
import type { JsonObject } from "./json/json.ts";
import type { ProposalPart } from "./proposal/part.ts";

/** Who answered: `name` is what they claim, `user` what the operating system reports. */
export type By = {
  readonly kind: "person" | "host" | "grant";
  readonly user: string;
  readonly name: string;
  readonly door: string;
  readonly pid: number;
  /** Where the answer was given, as the setting `answersFrom` names it: `terminal`, `command`, `inbox`, `host`, `dialog:claude`. */
  readonly from?: string;
  /** The machine, in a ledger that several machines share. */
  readonly host?: string;
};

/** What to remember from an answer. */
export type Remember = {
  readonly scope: GrantScope;
  /** Defaults to the offered rules. */
  readonly rules?: readonly string[];
  readonly expiresAt?: string;
  readonly uses?: number;
};

/** A person's answer to one approval. */
export type Answer = {
  readonly approval: string;
  /** The revision that was shown; absent if the fingerprint binds the answer. */
  readonly revision?: number;
  readonly fingerprint?: string;
  /** `preview` only asks the process that holds the session to show what the call would do. */
  readonly outcome: "approve" | "reject" | "preview";
  readonly remember?: Remember;
  readonly updatedInput?: JsonObject;
  readonly newContent?: string;
  readonly mode?: string;
  /** Id of the shown preview whose changes are written instead of running the call. */
  readonly write?: string;
  /** For a call of `resolve`: applies only this part of the proposal. */
  readonly part?: ProposalPart;
  readonly reason?: string;
  readonly interrupt?: boolean;
  readonly by: By;
};
