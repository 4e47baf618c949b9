import { type Ledger, type LedgerEvent, SHARED, type StoredEvent } from "@assent/core";
import type { Context } from "../command-line/spec.ts";
import { mentionsSetting } from "../store/location.ts";
import type { Store } from "../store/store.ts";
import type { Announcer } from "./announcer.ts";
import { type Notice, noticeOf } from "./notice.ts";

export type NotifyingLedger = {
  readonly ledger: Ledger;
  /** Sends what is left, within the time that a run may be delayed. */
  readonly settle: (waitMs?: number) => Promise<void>;
};

/** How long the end of a command waits for receivers. */
const MOST_WAIT_MS = 2_000;

/**
 * A ledger that notifies receivers of what this process records, so that every command that opens approvals does so. If a person sees an
 * approval here, receivers are notified only when the session is left. The code that sends is loaded with the first notice.
 */
export function createNotifyingLedger(context: Context, ledger: Ledger, directory: string): NotifyingLedger {
  const postponed = new Map<string, Notice[]>();
  const outside = new Set<string>();
  let announcer: Promise<Announcer | undefined> | undefined;
  const announce = (notices: readonly Notice[]): void => {
    announcer ??= loadAnnouncer(context, { ledger, directory });
    announcer.then((loaded) => loaded?.add(notices)).catch(() => undefined); // nothing depends on it
  };
  const hear = (event: LedgerEvent): void => {
    if (event.session === SHARED) return;
    const notice = noticeOf(event as unknown as StoredEvent); // the same event, as it is read
    const kept = postponed.get(event.session) ?? [];
    if (event.type === "session.closed") postponed.delete(event.session);
    if (event.type === "session.closed" && kept.length > 0) announce(kept);
    if (event.type === "session.created" && event.body.group) outside.add(event.session);
    if (!notice || (notice.event === "failed" && outside.has(event.session))) return; // a call that was denied is no failure
    if (!context.attendance.isAttended(event.session)) announce([notice]);
    else if (notice.event === "approval") postponed.set(event.session, [...kept, notice]);
  };
  return {
    ledger: {
      ...ledger,
      append: async (...given) => {
        const events = await ledger.append(...given);
        for (const event of events) hear(event);
        return events;
      },
    },
    settle: async (waitMs = MOST_WAIT_MS) => (await announcer?.catch(() => undefined))?.settle(waitMs),
  };
}

/** Undefined if there is no receiver. */
async function loadAnnouncer(context: Context, store: Store): Promise<Announcer | undefined> {
  if (!mentionsSetting(context.io.env, "notify")) return undefined;
  const { readOwnSettings } = await import("../compose/own-settings.ts");
  const receivers = readOwnSettings(context.io, store.directory)["notify.receivers"];
  if (Object.keys(receivers).length === 0) return undefined;
  return (await import("./announcer.ts")).createAnnouncer(context, store, receivers);
}
