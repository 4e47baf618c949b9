import type { EventType, LedgerEvent } from "@assent/core";
import { approvalForm } from "../../desk/approvals/form.ts";
import { questionForm } from "../../desk/questions/form.ts";
import { whoText } from "../../io/who.ts";
import type { WireMessage } from "./message.ts";

/** Events that become one `system` message each. */
const LINES: { readonly [T in EventType]?: (event: LedgerEvent<T>) => Omit<WireMessage, "type"> } = {
  "mode.changed": ({ body: { from, to, by } }) => ({ subtype: "mode_changed", from, to, by }),
  "model.changed": ({ body: { from, to, by } }) => ({ subtype: "model_changed", from, to, by }),
  "approval.opened": ({ session, at, body: { approval: id, ...rest } }) => ({
    subtype: "approval_opened",
    approval: approvalForm({ ...rest, id, session, requestedAt: at }),
  }),
  "approval.answered": ({ body: { approval, outcome, by, reason } }) => ({
    subtype: "approval_closed",
    approval_id: approval,
    outcome,
    by: whoText(by),
    ...(reason !== null && { reason }),
  }),
  "approval.closed": ({ body: { approval, outcome, by } }) => ({ subtype: "approval_closed", approval_id: approval, outcome, by }),
  "question.asked": ({ session, at, body: { question: id, ...rest } }) => ({
    subtype: "approval_opened",
    approval: questionForm({ ...rest, id, session, askedAt: at }),
  }),
  "question.answered": ({ body: { question, outcome, by, reason } }) => ({
    subtype: "approval_closed",
    approval_id: question,
    outcome,
    by: whoText(by),
    ...(reason !== null && { reason }),
  }),
  "schedule.fired": ({ body: { schedule, due, missed } }) => ({ subtype: "schedule_fired", schedule_id: schedule, due, missed }),
  "hook.ran": ({ body: { event, hook, outcome, durationMs } }) => ({
    subtype: "hook",
    hook_event: event,
    hook,
    outcome,
    duration_ms: durationMs,
  }),
  "notice.delivered": ({ body: { ids, turn } }) => ({ subtype: "notice_delivered", notice_ids: ids, turn }),
};

export function systemLine(event: LedgerEvent): WireMessage | undefined {
  if (event.type === "mode.changed" && event.body.from === event.body.to) return undefined; // only the plan's path was recorded
  // Each row takes the event of its type.
  const line = LINES[event.type] as ((event: LedgerEvent) => Omit<WireMessage, "type">) | undefined;
  return line && { type: "system", ...line(event) };
}
