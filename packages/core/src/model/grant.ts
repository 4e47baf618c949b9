/** How far a remembered answer reaches. */
export type GrantScope = "session" | "project" | "user";

/** A remembered answer. Consulted only for an ask that is not explicit. */
export type Grant = {
  readonly id: string;
  readonly scope: GrantScope;
  /** The session it holds in, for scope session. */
  readonly session?: string;
  /** The workspace's real path, for scope project. */
  readonly workspace?: string;
  readonly rule: string;
  readonly madeBy: string;
  readonly madeAt: string;
  readonly expiresAt?: string;
  readonly usesLeft?: number;
  readonly fromApproval: string;
};
