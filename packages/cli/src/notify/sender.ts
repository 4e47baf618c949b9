import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { type Clock, type Ledger, LedgerError } from "@assent/core";
import { createRandomIds, createSystemClock } from "@assent/host";
import type { NotifyReceiver } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { readOwnSettings } from "../compose/own-settings.ts";
import { createRedactions } from "../compose/redaction.ts";
import type { Io } from "../io/io.ts";
import type { Store } from "../store/store.ts";
import { type AttemptResult, deliver } from "./deliver.ts";
import { type NoticeItem, type NoticeMessage, readItem, titleOf } from "./message.ts";
import type { Notice } from "./notice.ts";
import { ReceiverError, receiverKey } from "./receiver.ts";
import { claimNotices, recordSent } from "./sent-record.ts";

export type SenderParts = {
  readonly io: Pick<Io, "env">;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly directory: string;
  /** A random name of this sender. */
  readonly by: string;
};

export function createSenderParts({ io, overrides }: Context, { ledger, directory }: Store): SenderParts {
  return { io, ledger, clock: overrides.clock ?? createSystemClock(), directory, by: createRandomIds().next("n_") };
}

/** Two receivers with one address count as two senders, so that only one of them sends. */
export function senderTo(parts: SenderParts, name: string): SenderParts {
  return { ...parts, by: `${parts.by}-${name}` };
}

/** The most items of one message. */
const MOST_ITEMS = 50;

/** Sends a receiver the notices that no other process has sent it. `done`: nothing is left to send. */
export async function notifyReceiver(
  parts: SenderParts,
  receiver: NotifyReceiver,
  notices: readonly Notice[],
  signal: AbortSignal,
): Promise<AttemptResult | "done"> {
  const { io, ledger, clock, directory } = parts;
  const wanted = notices.filter(({ event }) => receiver.events.includes(event));
  try {
    const current = await readItems(parts, wanted);
    if (current.length === 0) return "done";
    const record = { ledger, clock, by: parts.by, receiver: receiverKey(receiver, io.env) };
    const mine = await claimNotices(
      record,
      current.map(({ notice }) => notice),
    );
    const items = current.flatMap(({ notice, item }) => (mine.includes(notice) ? [item] : []));
    if (items.length === 0) return "done";
    const { secretEnv, "notify.publicUrl": link } = readOwnSettings(io, directory);
    const delivery = await deliver(receiver, createMessage(items, clock, link), { env: io.env, clock, secretEnv }, signal);
    if (delivery.delivered) await recordSent(record, mine);
    return delivery;
  } catch (error) {
    if (error instanceof ReceiverError) return { delivered: false, again: false, detail: error.message };
    if (error instanceof LedgerError) return { delivered: false, again: true, detail: error.message };
    throw error;
  }
}

type CurrentItem = { readonly notice: Notice; readonly item: NoticeItem };

/** Secrets are looked for with the patterns of the directory that the item is about. */
async function readItems({ io, ledger, directory }: SenderParts, notices: readonly Notice[]): Promise<readonly CurrentItem[]> {
  const redactionOf = createRedactions(io);
  const found: CurrentItem[] = [];
  for (const notice of notices) {
    const [row] = await ledger.pending("sessions", { prefix: notice.session, all: true, limit: 1 });
    const item = await readItem(ledger, notice, redactionOf(row?.cwd || directory).value);
    if (item) found.push({ notice, item });
  }
  return found;
}

export function createMessage(items: readonly NoticeItem[], clock: Clock, link: string | undefined): NoticeMessage {
  const id = `msg_${createHash("sha256")
    .update(items.map(({ key }) => key).join("\n"))
    .digest("hex")
    .slice(0, 32)}`;
  const more = Math.max(0, items.length - MOST_ITEMS);
  const listed = { items: items.slice(0, MOST_ITEMS), more };
  return { id, at: new Date(clock.now()).toISOString(), host: hostname(), title: titleOf(items), link: link ?? null, ...listed };
}
