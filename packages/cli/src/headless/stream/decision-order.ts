import { type DecisionNotice, hasJudgement, type LedgerEvent, type SessionState } from "@assent/core";

/** A verdict that may be told, and the place in the record that it shows; undefined: the newest. */
export type Decided = { readonly notice: DecisionNotice; readonly at: number | undefined };

/** Verdicts, each told when its judgement is on record: some are known before that. */
export type DecisionOrder = {
  readonly event: (event: LedgerEvent) => void;
  readonly add: (notice: DecisionNotice) => void;
  /** Those that may be told by now. Each once. */
  readonly ready: () => readonly Decided[];
  /** That of this call, which ends without a judgement on record. */
  readonly of: (call: string) => readonly Decided[];
};

/** Nothing is decided yet; calls of an earlier process are judged already. */
export function decisionOrder({ calls }: Pick<SessionState, "calls">): DecisionOrder {
  const judged = new Map<string, number | undefined>();
  for (const call of calls.values()) if (hasJudgement(call)) judged.set(call.callId, undefined);
  let waiting: Decided[] = [];
  const take = (isMeant: (decided: Decided) => boolean): readonly Decided[] => {
    const taken = waiting.filter(isMeant);
    waiting = waiting.filter((decided) => !taken.includes(decided));
    return taken;
  };
  return {
    event: (event) => {
      if (event.type === "call.ended") judged.delete(event.body.call);
      if (event.type !== "call.judged") return;
      const { call } = event.body;
      judged.set(call, event.seq);
      waiting = waiting.map((decided) => (decided.notice.callId === call ? { ...decided, at: event.seq } : decided));
    },
    add: (notice) => void waiting.push({ notice, at: undefined }),
    ready: () => take(({ notice }) => judged.has(notice.callId)),
    of: (call) => take(({ notice }) => notice.callId === call),
  };
}
