import type { ConversationEvent } from "@assent/agent";
import { type DecisionNotice, hasJudgement, type LedgerEvent, type Session, type SessionState } from "@assent/core";
import { type WireMessage, type WireOrigin, wireMessage } from "./message.ts";
import { proposalLines } from "./proposal-lines.ts";
import { isStreamed, streamLine } from "./stream-lines.ts";
import { systemLine } from "./system-lines.ts";
import { taskLines } from "./task-lines.ts";
import { type TurnLine, turnLines, type UnreportedCall } from "./turn-lines.ts";

export type SessionLines = {
  readonly event: (event: LedgerEvent) => readonly WireMessage[];
  readonly decided: (notice: DecisionNotice) => readonly WireMessage[];
  readonly conversation: (event: ConversationEvent) => readonly WireMessage[];
};

export type LinesParts = {
  readonly origin: WireOrigin;
  readonly session: Pick<Session, "id" | "state">;
  /** Calls of an earlier process that were not reported yet. */
  readonly unreported?: readonly UnreportedCall[];
};

export function sessionLines({ origin, session, unreported }: LinesParts): SessionLines {
  const turns = turnLines(session.id, unreported);
  const proposals = proposalLines([...session.state.proposals.values()]);
  const tasks = taskLines([...session.state.tasks.values()]);
  const decisions = decisionOrder(session.state);
  let seq = session.state.seq;
  const shown = (line: TurnLine): WireMessage => wireMessage(origin, line.fields, line.seq);
  const decided = ({ notice, at }: OrderedDecision): WireMessage => wireMessage(origin, decisionLine(notice), at ?? seq);
  const lines = (event: LedgerEvent): readonly WireMessage[] => {
    const own = systemLine(event) ?? proposals(event) ?? tasks(event);
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

/** A decision and the event it belongs to; undefined: the newest. */
type OrderedDecision = { readonly notice: DecisionNotice; readonly at: number | undefined };

function decisionOrder({ calls }: Pick<SessionState, "calls">) {
  const judged = new Map<string, number | undefined>();
  for (const call of calls.values()) if (hasJudgement(call)) judged.set(call.callId, undefined);
  let waiting: OrderedDecision[] = [];
  const take = (isMeant: (decided: OrderedDecision) => boolean): readonly OrderedDecision[] => {
    const taken = waiting.filter(isMeant);
    waiting = waiting.filter((decided) => !taken.includes(decided));
    return taken;
  };
  return {
    event: (event: LedgerEvent): void => {
      if (event.type === "call.ended") judged.delete(event.body.call);
      if (event.type !== "call.judged") return;
      const { call } = event.body;
      judged.set(call, event.seq);
      waiting = waiting.map((decided) => (decided.notice.callId === call ? { ...decided, at: event.seq } : decided));
    },
    add: (notice: DecisionNotice): void => void waiting.push({ notice, at: undefined }),
    /** Decisions that may be reported now, each once. */
    ready: (): readonly OrderedDecision[] => take(({ notice }) => judged.has(notice.callId)),
    /** The decision of a call that ends without a recorded judgement. */
    of: (call: string): readonly OrderedDecision[] => take(({ notice }) => notice.callId === call),
  };
}
