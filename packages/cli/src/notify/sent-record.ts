import { type Clock, type EventBodies, type Ledger, namedSession, parseEvent } from "@assent/core";
import { type Notice, noticeKey } from "./notice.ts";

/** A sender, a receiver, and the ledger that records what was sent. */
export type SentRecord = {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** A random name of the sender. */
  readonly by: string;
  /** See `receiverKey`. */
  readonly receiver: string;
};

/** How long a sender may take before another one tries. */
const CLAIM_MS = 15_000;

/**
 * Claims notices for a receiver, so that no two processes send it the same one. Returns those that no other process has sent or is sending. Of two
 * claims the earlier one counts, until its time is over. Rejects if the claim cannot be recorded: then nothing may be sent.
 */
export async function claimNotices(record: SentRecord, notices: readonly Notice[]): Promise<readonly Notice[]> {
  const free = await withoutOthers(record, notices);
  if (free.length === 0) return [];
  const until = new Date(record.clock.now() + CLAIM_MS).toISOString();
  await append(record, free, { state: "sending", until });
  return await withoutOthers(record, free);
}

/** Records that notices were sent to a receiver. */
export async function recordSent(record: SentRecord, notices: readonly Notice[]): Promise<void> {
  await append(record, notices, { state: "sent", until: null });
}

/** Reads which notices of a session were sent to a receiver, without those that are being sent. */
export async function readSentItems(record: Pick<SentRecord, "ledger" | "receiver">, session: string): Promise<ReadonlySet<string>> {
  const senders = await readSenders(record, session);
  return new Set([...senders].flatMap(([item, { until }]) => (until === Number.POSITIVE_INFINITY ? [item] : [])));
}

async function withoutOthers(record: SentRecord, notices: readonly Notice[]): Promise<readonly Notice[]> {
  const free: Notice[] = [];
  for (const [session, some] of Map.groupBy(notices, (notice) => notice.session)) {
    const senders = await readSenders(record, session);
    for (const notice of some) {
      const { until = 0, by = "" } = senders.get(noticeKey(notice)) ?? {};
      if (until <= record.clock.now() || (by === record.by && until < Number.POSITIVE_INFINITY)) free.push(notice);
    }
  }
  return free;
}

type ItemSender = { readonly by: string; readonly until: number };

/** Who has sent an item, or is sending it until a time. */
async function readSenders(
  { ledger, receiver }: Pick<SentRecord, "ledger" | "receiver">,
  session: string,
): Promise<ReadonlyMap<string, ItemSender>> {
  const senders = new Map<string, ItemSender>();
  const naming = namedSession({ type: "notification.sent", body: { session } }) ?? "";
  for await (const stored of ledger.read({ pos: 0 }, { naming })) {
    const event = parseEvent(stored);
    if (event?.type !== "notification.sent" || event.body.receiver !== receiver) continue;
    const { by, items, state } = event.body;
    const until = state === "sent" ? Number.POSITIVE_INFINITY : Date.parse(event.body.until ?? event.at);
    for (const item of items) {
      const before = senders.get(item);
      const isFree = before === undefined || before.until <= Date.parse(event.at) || (before.by === by && before.until < until);
      if (isFree || state === "sent") senders.set(item, { by, until });
    }
  }
  return senders;
}

async function append(
  { ledger, clock, by, receiver }: SentRecord,
  notices: readonly Notice[],
  fields: Pick<EventBodies["notification.sent"], "state" | "until">,
): Promise<void> {
  const at = new Date(clock.now()).toISOString();
  const drafts = [...Map.groupBy(notices, (notice) => notice.session)].map(
    ([session, some]) =>
      ({ type: "notification.sent", v: 1, at, body: { session, receiver, items: some.map(noticeKey), by, ...fields } }) as const,
  );
  await ledger.answer(drafts);
}
