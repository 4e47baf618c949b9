/** How far a remembered answer applies. */
export type GrantScope = "session" | "project" | "user";

/** A remembered answer, consulted only for an ask that is not explicit. */
export type Grant = {
  readonly id: string;
  readonly scope: GrantScope;
  readonly session?: string;
  /** A real path. */
  readonly workspace?: string;
  readonly rule: string;
  readonly madeBy: string;
  readonly madeAt: string;
  readonly expiresAt?: string;
  readonly usesLeft?: number;
  readonly fromApproval: string;
};
