import type { StoredEvent } from "@assent/core";

/** An event of which receivers may be notified. */
export type Notice = {
  readonly event: "approval" | "expiring" | "failed" | "task";
  readonly kind: "approval" | "question" | "proposal" | "session" | "task";
  readonly id: string;
  readonly session: string;
  readonly at: string;
};

/** The types of events from which notices are made. */
export const NOTICE_EVENT_TYPES = ["approval.opened", "question.asked", "proposal.parked", "session.closed", "task.ended"] as const;

/** The notice of a recorded event, if it is about something that people may want to know. */
export function noticeOf({ type, session, seq, at, body }: StoredEvent): Notice | undefined {
  const waiting = (kind: "approval" | "question" | "proposal"): Notice => ({
    event: "approval",
    kind,
    id: String(body[kind]),
    session,
    at,
  });
  switch (type) {
    case "approval.opened":
      return waiting("approval");
    case "question.asked":
      return waiting("question");
    case "proposal.parked":
      return waiting("proposal");
    case "session.closed":
      if (body["reason"] !== "failed" && body["reason"] !== "limit") return undefined;
      return { event: "failed", kind: "session", id: `${session}#${seq}`, session, at };
    case "task.ended":
      return { event: "task", kind: "task", id: String(body["task"]), session, at };
    default:
      return undefined;
  }
}

/** How the record of sent notifications and receivers name a notice. Tasks of two sessions can have the same id. */
export function noticeKey({ event, kind, id, session }: Notice): string {
  return `${event}:${kind === "task" ? `${session}#${id}` : id}`;
}
