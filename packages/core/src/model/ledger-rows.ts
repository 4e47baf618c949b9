import type { By } from "./answer.ts";
import type { Draft, EventBodies, SessionGroup } from "./events.ts";
import type { Grant } from "./grant.ts";
import type { Holder } from "./holder.ts";
import type { Question, QuestionAnswer } from "./question/question.ts";
import type { TaskRow } from "./task/row.ts";

/** One approval as listed: what was shown last, and what became of it. */
export type ApprovalRow = Omit<EventBodies["approval.opened"], "approval"> & {
  readonly id: string;
  readonly session: string;
  readonly requestedAt: string;
  readonly state: "open" | "approved" | "rejected" | "expired" | "cancelled" | "denied";
  readonly answeredBy: By | null;
  readonly answeredAt: string | null;
  readonly answerReason: string | null;
  /** The fingerprint the consent covers: the one shown, or the edited one. */
  readonly covers: string | null;
  readonly remember: EventBodies["approval.answered"]["remember"] | null;
  /** A claim has used the answer. */
  readonly consumed: boolean;
};

/** One grant as listed. */
export type GrantRow = Grant & { readonly tool: string; readonly state: "active" | "expired" | "used_up" | "revoked" };

/** One session as listed. */
export type SessionRow = {
  readonly id: string;
  readonly cwd: string;
  readonly title: string;
  readonly state: "running" | "idle" | "parked" | "queued" | "interrupted" | "done" | "failed" | "cancelled";
  readonly model: string | null;
  readonly turns: number;
  readonly calls: number;
  readonly openApprovals: number;
  readonly unknownOutcomes: number;
  /** Its unfinished background agents and commands. */
  readonly tasks: readonly { readonly task: string; readonly state: TaskRow["state"] }[];
  /** The task it belongs to. */
  readonly parent: EventBodies["session.created"]["parent"];
  readonly forked: NonNullable<EventBodies["session.created"]["forked"]> | null;
  /** Set if another agent runs its calls. */
  readonly group: SessionGroup | null;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly writer: Holder | null;
};

/** One question as listed. */
export type QuestionRow = {
  readonly id: string;
  readonly session: string;
  readonly callId: string;
  readonly fingerprint: string;
  readonly questions: readonly Question[];
  readonly askedAt: string;
  readonly state: "open" | "answered" | "declined" | "expired" | "cancelled";
  readonly answers: readonly QuestionAnswer[] | null;
  readonly answeredBy: By | null;
  readonly answeredAt: string | null;
  readonly answerReason: string | null;
};

/** Events any process may append to the shared chain. */
export type SharedDraft = Draft<
  | "approval.answered"
  | "approval.closed"
  | "grant.created"
  | "grant.used"
  | "grant.revoked"
  | "trust.granted"
  | "trust.revoked"
  | "proposal.requested"
  | "cancel.requested"
  | "question.answered"
  | "notification.sent"
>;

/** Why a claim failed. */
export type ClaimLost =
  | "not_claimable"
  | "already_claimed"
  | "fingerprint_mismatch"
  | "answer_void"
  | "answer_consumed"
  | "grant_revoked"
  | "policy_changed";
