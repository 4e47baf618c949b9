import { type Draft, type Ledger, LedgerError, type SharedDraft, type StoredEvent } from "@assent/core";
import type { Planted } from "./world.ts";

/** Bugs that are put in at a port, one of each kind that a simulation is for. */
export const PLANTED: Readonly<
  Record<"lost wake-up" | "lost edit" | "double claim" | "missing fsync" | "reordered notice", () => Planted>
> = {
  "lost wake-up": () => ({ ledger: losesOneTelling }),
  "lost edit": () => ({ ledger: dropsEdits }),
  "double claim": () => ({ ledger: claimsWithoutComparing }),
  "missing fsync": () => ({ skipsSync: true }),
  "reordered notice": () => ({ ledger: swapsNotices }),
};

/** A follower is not told of the first answer that it should hear. */
function losesOneTelling(ledger: Ledger): Ledger {
  return {
    ...ledger,
    subscribe: (from, filter, sink) => {
      let lost = false;
      const tell = (event: StoredEvent): void => {
        if (lost || event.type !== "approval.answered") sink(event);
        else lost = true;
      };
      return ledger.subscribe(from, filter, tell);
    },
  };
}

/** What a person wrote in place of what they were shown is not stored; their yes is. */
function dropsEdits(ledger: Ledger): Ledger {
  const plain = (draft: SharedDraft): SharedDraft => {
    if (draft.type !== "approval.answered") return draft;
    const { edited: _edited, ...body } = draft.body;
    return { ...draft, body };
  };
  return { ...ledger, answer: (events) => ledger.answer(events.map(plain)) };
}

/** A claim is not compared with whose session it is by now. */
function claimsWithoutComparing(ledger: Ledger): Ledger {
  return {
    ...ledger,
    claim: (lease, expected, claimed) =>
      ledger.claim(lease, expected, claimed).catch((error: unknown) => {
        if (!(error instanceof LedgerError) || error.type !== "stale_writer") throw error;
        return { won: { ...claimed, session: lease.session, seq: expected + 1, epoch: lease.epoch, pos: Number.MAX_SAFE_INTEGER } };
      }),
  };
}

/** Two notices that are told together are told in the other order. */
function swapsNotices(ledger: Ledger): Ledger {
  const swapped = (draft: Draft): Draft =>
    draft.type === "notice.delivered" ? { ...draft, body: { ...draft.body, ids: draft.body.ids.toReversed() } } : draft;
  return { ...ledger, append: (lease, expected, batch) => ledger.append(lease, expected, { ...batch, events: batch.events.map(swapped) }) };
}
