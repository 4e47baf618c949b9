import type { Approver, Questioner } from "@assent/core";

export type PersonChannels = { readonly approver: Approver; readonly questioner: Questioner };

/** Queues approvals and questions, because they share one keyboard. */
export function oneAtATime({ approver, questioner }: PersonChannels): PersonChannels {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const turn = last.then(act);
    last = turn.catch(() => undefined);
    return turn;
  };
  return {
    approver: { available: () => approver.available(), ask: (approval, signal) => inTurn(() => approver.ask(approval, signal)) },
    questioner: {
      available: () => questioner.available(),
      ask: (question, signal, partial) => inTurn(() => questioner.ask(question, signal, partial)),
    },
  };
}
