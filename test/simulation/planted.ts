import { type Draft, type Hooks, type Ledger, LedgerError, type SharedDraft, type StoredEvent } from "@assent/core";
import type { Planted } from "./world.ts";

/** Bugs that are put in at a port, one of each kind that a simulation is for. */
export const PLANTED: Readonly<
  Record<
    | "lost wake-up"
    | "lost edit"
    | "skipped hook"
    | "stale apply"
    | "orphaned agent"
    | "repeated fire"
    | "double claim"
    | "missing fsync"
    | "reordered notice",
    () => Planted
  >
> = {
  "lost wake-up": () => ({ ledger: losesOneTelling }),
  "lost edit": () => ({ ledger: dropsEdits }),
  "skipped hook": () => ({ hooks: asksHooksOnce }),
  "stale apply": () => ({ appliesBlindly: true }),
  "orphaned agent": () => ({ ledger: listsNoAgents }),
  "repeated fire": () => ({ ledger: forgetsFires }),
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

/** What an earlier process has put to hooks, or was about to, is not put to them again. */
function asksHooksOnce(hooks: Hooks, reopened: boolean): Hooks {
  return reopened ? { ...hooks, consult: async () => undefined } : hooks;
}

/** What agents left open is not found by whoever goes on. */
function listsNoAgents(ledger: Ledger): Ledger {
  const pending: Ledger["pending"] = async (kind, query) => {
    const rows = await ledger.pending(kind, query);
    return kind === "sessions" && query?.prefix === undefined ? rows.filter((row) => !("parent" in row) || row.parent === null) : rows;
  };
  return { ...ledger, pending };
}

/** That a schedule has fired is not read back by the next process. */
function forgetsFires(ledger: Ledger): Ledger {
  return {
    ...ledger,
    latest: async () => undefined,
    read: async function* (from, filter) {
      for await (const event of ledger.read(from, filter)) if (event.type !== "schedule.fired") yield event;
    },
  };
}

/** Neither the lock nor the claim is compared with whose session it is by now. */
function claimsWithoutComparing(ledger: Ledger): Ledger {
  return {
    ...ledger,
    hold: (lease) =>
      ledger.hold(lease).catch((error: unknown) => {
        if (!(error instanceof LedgerError) || error.type !== "stale_writer") throw error;
        return () => undefined;
      }),
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
