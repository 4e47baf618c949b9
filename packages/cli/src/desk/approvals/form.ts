import type { ApprovalRow, EventBodies, JsonObject } from "@assent/core";
import type { EditedInput } from "./edited-answer.ts";

type ListedFields = "id" | "session" | "call" | "tool" | "title" | "reason" | "rule" | "requestedAt" | "expiresAt" | "fingerprint";

export function approvalForm(row: Pick<ApprovalRow, ListedFields>): JsonObject {
  const { id, session, call, tool, title, reason, rule, requestedAt, expiresAt, fingerprint } = row;
  return {
    id,
    sessionId: session,
    callId: call,
    tool,
    title,
    reason,
    ...(rule && { rule }),
    requestedAt,
    ...(expiresAt !== null && { expiresAt }),
    fingerprint,
  };
}

export type RecordedJudgement = Pick<
  EventBodies["call.judged"],
  "kind" | "input" | "cwd" | "verdict" | "reason" | "source" | "rule" | "explicitAsk" | "units" | "trace"
>;

export function approvalLongForm(row: ApprovalRow, judged: RecordedJudgement & { readonly edited: EditedInput | undefined }): JsonObject {
  const { kind, input, cwd, verdict, reason, source, rule, explicitAsk, units, trace, edited } = judged;
  return {
    ...approvalForm(row),
    kind,
    input,
    cwd,
    facts: row.facts,
    preview: row.details,
    suggestions: row.suggestions,
    decision: { verdict, reason, source, ...(rule && { rule }), explicitAsk, units, trace },
    state: row.state,
    ...(row.answeredBy && { answeredBy: row.answeredBy }),
    ...(row.answeredAt !== null && { answeredAt: row.answeredAt }),
    ...(row.answerReason !== null && { answerReason: row.answerReason }),
    ...(edited && { edited }),
    consumed: row.consumed,
  };
}
