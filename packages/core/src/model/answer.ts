import type { GrantScope } from "./grant.ts";
import type { JsonObject } from "./json/json.ts";

/** Who gave an answer. `name` is a claim, `user` is what the operating system says. */
export type By = {
  readonly kind: "person" | "host" | "grant";
  readonly user: string;
  readonly name: string;
  readonly door: string;
  readonly pid: number;
};

/** What an answer asks to be remembered. */
export type Remember = {
  readonly scope: GrantScope;
  /** The offered rules when absent; never empty. */
  readonly rules?: readonly string[];
  readonly expiresAt?: string;
  readonly uses?: number;
};

/** A person's outcome for one approval: the one internal record to which every wire's words are mapped at the edge. */
export type Answer = {
  readonly approval: string;
  /** The revision that was shown; absent where the door binds the answer by fingerprint. */
  readonly revision?: number;
  /** The fingerprint that was shown; another one is `stale_revision`. */
  readonly fingerprint?: string;
  readonly outcome: "approve" | "reject";
  readonly remember?: Remember;
  readonly updatedInput?: JsonObject;
  readonly newContent?: string;
  readonly mode?: string;
  readonly reason?: string;
  readonly interrupt?: boolean;
  readonly by: By;
};
