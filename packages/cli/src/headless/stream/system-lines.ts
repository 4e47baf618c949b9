import type { EventType, LedgerEvent, QuestionRow } from "@assent/core";
import { approvalForm } from "../../desk/approvals/form.ts";
import { questionForm } from "../../desk/questions/form.ts";
import { whoText } from "../../io/who.ts";
import type { WireMessage } from "./message.ts";

type Lines = { readonly [T in EventType]?: (event: LedgerEvent<T>) => Omit<WireMessage, "type"> };

/** Events that become one `system` message each. */
const LINES: Lines = {
  "mode.changed": ({ body: { from, to, by } }) => ({ subtype: "mode_changed", from, to, by }),
  "model.changed": ({ body: { from, to, by } }) => ({ subtype: "model_changed", from, to, by }),
  "approval.opened": (event) => ({ subtype: "approval_opened", approval: openedForm(event) }),
  "approval.answered": ({ body: { approval, outcome, by, reason } }) => ({
    subtype: "approval_closed",
    approval_id: approval,
    outcome,
    by: whoText(by),
    ...(reason !== null && { reason }),
  }),
  "approval.closed": ({ body: { approval, outcome, by } }) => ({ subtype: "approval_closed", approval_id: approval, outcome, by }),
  "question.asked": (event) => ({ subtype: "approval_opened", approval: questionForm(askedRow(event)) }),
  "question.answered": ({ body: { question, outcome, by, reason } }) => ({
    subtype: "approval_closed",
    approval_id: question,
    outcome,
    by: whoText(by),
    ...(reason !== null && { reason }),
  }),
  "schedule.fired": ({ body: { schedule, due, missed } }) => ({ subtype: "schedule_fired", schedule_id: schedule, due, missed }),
  "notice.delivered": ({ body: { ids, turn } }) => ({ subtype: "notice_delivered", notice_ids: ids, turn }),
};

export function systemLine(event: LedgerEvent): WireMessage | undefined {
  if (event.type === "mode.changed" && event.body.from === event.body.to) return undefined; // only the plan's path was recorded
  // Each row takes the event of its type.
  const line = LINES[event.type] as ((event: LedgerEvent) => Omit<WireMessage, "type">) | undefined;
  return line && { type: "system", ...line(event) };
}

export function hookLine({ body: { event, hook, outcome, durationMs } }: LedgerEvent<"hook.ran">): WireMessage {
  return { type: "system", subtype: "hook", hook_event: event, hook, outcome, duration_ms: durationMs };
}

function openedForm({ session, at, body }: LedgerEvent<"approval.opened">): ReturnType<typeof approvalForm> {
  const { approval: id, ...rest } = body;
  return approvalForm({
    ...rest,
    id,
    session,
    requestedAt: at,
    ...{ state: "open", answeredBy: null, answeredAt: null, answerReason: null, covers: null, remember: null, consumed: false },
  });
}

function askedRow({ session, at, body: { question, callId, fingerprint, questions } }: LedgerEvent<"question.asked">): QuestionRow {
  const open = { state: "open", answers: null, answeredBy: null, answeredAt: null, answerReason: null } as const;
  return { id: question, session, callId, fingerprint, questions, askedAt: at, ...open };
}
