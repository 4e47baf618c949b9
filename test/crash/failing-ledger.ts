import type { Draft, Ledger } from "@assent/core";
import type { Failpoint, Failpoints } from "./failpoints.ts";

/** What is about to be stored, or has been: the point is hit for each event of the type. */
const BEFORE: Readonly<Record<string, Failpoint>> = {
  "call.started": "effect.after_spawn",
  "session.closed": "close.before",
  "proposal.applying": "proposal.before_applying",
  "proposal.applied": "proposal.before_applied",
  "proposal.discarded": "proposal.before_discarded",
  "proposal.undone": "proposal.before_undone",
};
const AFTER: Readonly<Record<string, Failpoint>> = {
  "call.proposed": "call.after_proposed",
  "call.judged": "call.after_judged",
  "approval.opened": "approval.after_opened",
  "call.ended": "end.after",
  "proposal.staged": "proposal.after_staged",
  "proposal.applying": "proposal.after_applying",
  "proposal.applied": "proposal.after_applied",
  "proposal.discarded": "proposal.after_discarded",
  "proposal.undone": "proposal.after_undone",
};

/** The ledger with failpoints around what it does; it stores exactly what it is given. */
export function failingLedger(ledger: Ledger, { hit, isArmed }: Failpoints): Ledger {
  const claimed = new Set<string>();
  const recovering = new Set<string>();
  // Events of one tick share a commit: to break off between them, each must have its own.
  const inTurn = isArmed("call.after_proposed") || isArmed("call.after_judged") ? makeTurns() : <T>(write: () => T): T => write();
  const before = ({ type, body }: Draft): void => {
    const point = BEFORE[type];
    if (point) hit(point);
    if (type === "call.ended" && "call" in body && claimed.has(body.call ?? "")) hit("effect.after");
  };
  const after = (session: string, events: readonly Draft[]): void => {
    if (recovering.has(session)) hit("recover.each");
    for (const { type } of events) {
      const point = AFTER[type];
      if (point) hit(point);
      if (type === "approval.opened") hit("batch.under_way");
      if (type === "session.opened") recovering.delete(session);
    }
  };
  return {
    ...ledger,
    acquire: async (session, holder, takeOver) => {
      hit("lease.before");
      const lease = await ledger.acquire(session, holder, takeOver);
      hit("lease.after_epoch");
      if (lease.head > 0) recovering.add(session);
      return lease;
    },
    append: async (lease, expected, batch) => {
      batch.events.forEach(before);
      const stored = await inTurn(() => ledger.append(lease, expected, batch));
      after(lease.session, batch.events);
      return stored;
    },
    claim: async (lease, expected, draft) => {
      hit("claim.before");
      const answer = await inTurn(() => ledger.claim(lease, expected, draft));
      if ("won" in answer) claimed.add(draft.body.call);
      hit("claim.after");
      if (recovering.has(lease.session)) hit("recover.each");
      return answer;
    },
    answer: async (events) => {
      const [first] = events;
      if (first?.type === "approval.answered") hit("approval.before_answer");
      if (first?.type === "proposal.requested") hit("proposal.before_requested");
      const answer = await ledger.answer(events);
      if (first?.type === "approval.answered") hit("approval.after_answer");
      if (first?.type === "grant.used") hit("grant.after_used");
      if (first?.type === "proposal.requested") hit("proposal.after_requested");
      return answer;
    },
  };
}

/** One write after the other, in the order they were issued. */
function makeTurns(): <T>(write: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (write) => {
    const turn = last.then(write);
    last = turn.catch(() => undefined);
    return turn;
  };
}
