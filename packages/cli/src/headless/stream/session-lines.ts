import type { ConversationEvent } from "@assent/agent";
import type { DecisionNotice, LedgerEvent, Session } from "@assent/core";
import { type Decided, decisionOrder } from "./decision-order.ts";
import { type WireMessage, type WireOrigin, wireMessage } from "./message.ts";
import { proposalLines } from "./proposal-lines.ts";
import { isStreamed, streamLine } from "./stream-lines.ts";
import { hookLine, systemLine } from "./system-lines.ts";
import { taskLines } from "./task-lines.ts";
import { type TurnLine, turnLines, type UntoldCall } from "./turn-lines.ts";

/** One session as messages: of its ledger, of its verdicts, of its conversation. Each must be given in the order in which it happened. */
export type SessionLines = {
  readonly event: (event: LedgerEvent) => readonly WireMessage[];
  readonly decided: (notice: DecisionNotice) => readonly WireMessage[];
  readonly conversation: (event: ConversationEvent) => readonly WireMessage[];
};

/** What the messages of a session are made with. */
export type LinesParts = {
  readonly origin: WireOrigin;
  readonly session: Pick<Session, "id" | "state">;
  /** Calls of an earlier process that are not told yet. */
  readonly untold?: readonly UntoldCall[];
};

/** The messages of one session, from now on. */
export function sessionLines({ origin, session, untold }: LinesParts): SessionLines {
  const turns = turnLines(session.id, untold);
  const proposals = proposalLines([...session.state.proposals.values()]);
  const tasks = taskLines([...session.state.tasks.values()]);
  const decisions = decisionOrder(session.state);
  let seq = session.state.seq;
  const shown = (line: TurnLine): WireMessage => wireMessage(origin, line.fields, line.seq);
  const decided = ({ notice, at }: Decided): WireMessage => wireMessage(origin, decisionLine(notice), at ?? seq);
  const lines = (event: LedgerEvent): readonly WireMessage[] => {
    const own = event.type === "hook.ran" ? hookLine(event) : (systemLine(event) ?? proposals(event) ?? tasks(event));
    return own ? [wireMessage(origin, own, seq)] : turns.event(event).map(shown);
  };
  return {
    event: (event) => {
      if (event.session === session.id) seq = event.seq;
      decisions.event(event);
      if (event.type === "call.ended")
        return [...turns.release().map(shown), ...decisions.of(event.body.call).map(decided), ...lines(event)];
      const made = lines(event);
      return turns.isHolding() ? made : [...made, ...decisions.ready().map(decided)];
    },
    decided: (notice) => {
      decisions.add(notice);
      return turns.isHolding() ? [] : decisions.ready().map(decided);
    },
    conversation: (event) => {
      if (isStreamed(event)) return [wireMessage(origin, streamLine(event, turns.answering()))];
      if (event.type !== "warning") return [];
      const { code, message } = event;
      return [wireMessage(origin, { type: "system", subtype: "warning", code, message })];
    },
  };
}

function decisionLine({ callId, toolName, decision, source, label, rule, reason, fingerprint }: DecisionNotice): WireMessage {
  return {
    type: "system",
    subtype: "decision",
    tool_use_id: callId,
    tool_name: toolName,
    decision,
    source,
    ...(label !== undefined && { label }),
    ...(rule !== undefined && { rule }),
    ...(reason !== undefined && { reason }),
    fingerprint: fingerprint ?? null,
  };
}
