import { type Ledger, parseEvent, readRow, readRows, type StoredEvent } from "@assent/core";
import type { NotifyReceiver } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { readOwnSettings } from "../compose/own-settings.ts";
import { warn } from "../io/output.ts";
import type { Store } from "../store/store.ts";
import { NOTICE_EVENT_TYPES, type Notice, noticeKey, noticeOf } from "./notice.ts";
import { ReceiverError, receiverKey } from "./receiver.ts";
import { createSenderParts, notifyReceiver, type SenderParts, senderTo } from "./sender.ts";
import { readSentItems } from "./sent-record.ts";

/** A process that is about to end may still be sending. */
const GRACE_MS = 5_000;
/** Processes that were killed leave no event. */
const LOOK_MS = 30_000;
const LONGEST_PAUSE_MS = 600_000;
/** Failed sessions and ended tasks that are older are not reported. */
const NEWS_MS = 86_400_000;
const NEWS_EVENTS = 20_000;

/**
 * Sends notices that other processes could not deliver, and reminds of approvals that expire soon, until the signal aborts. A living process
 * sends its own notices. Several of these may run, because each notice is claimed before it is sent.
 */
export async function remindReceivers(context: Context, store: Store, signal: AbortSignal): Promise<void> {
  const parts = createSenderParts(context, store);
  const { ledger, clock, directory } = parts;
  const news = new Map<string, Notice>();
  const settled = new Set<string>();
  const pauses = new Map<string, { readonly until: number; readonly ms: number }>();
  const { wait, ring } = makeAlarm(parts, signal);
  const hear = (event: StoredEvent): void => {
    const notice = noticeOf(event);
    if (notice && notice.event !== "approval") news.set(noticeKey(notice), notice);
    ring();
  };
  let following: { close(): void } | undefined;
  const warned = new Set<string>();

  const tell = async (name: string, notices: readonly Notice[]): Promise<void> => {
    const receiver = readOwnSettings(context.io, directory)["notify.receivers"][name];
    const pause = pauses.get(name);
    if (!receiver || (pause && pause.until > clock.now())) return;
    const result = await notifyReceiver(senderTo(parts, name), receiver, notices, signal);
    if (result === "done" || result.delivered) pauses.delete(name);
    else pauses.set(name, nextPause(pause?.ms, result.again, clock.now()));
    if (result === "done" || result.delivered || result.again || warned.has(result.detail)) return;
    warned.add(result.detail);
    await warn(context.io, `the receiver ${name} of notifications cannot be used: ${result.detail}`);
  };
  const look = async (): Promise<number> => {
    const receivers = Object.entries(readOwnSettings(context.io, directory)["notify.receivers"]);
    if (receivers.length === 0) return LOOK_MS;
    following ??= await followNews(ledger, hear, () => {
      following = undefined;
    });
    const { due, nextMs } = await dueNotices(ledger, news, clock.now());
    const tellOpen = async ([name, receiver]: (typeof receivers)[number]): Promise<void> => {
      const key = keyIfReadable(receiver, context.io.env);
      const open = key === undefined ? due : await withoutSent(ledger, { key, due, settled });
      if (open.length > 0) await tell(name, open);
    };
    await Promise.all(receivers.map(tellOpen)); // one that is slow does not delay the others
    return Math.min(nextMs, ...[...pauses.values()].map(({ until }) => Math.max(GRACE_MS, until - clock.now())));
  };
  while (!signal.aborted) {
    const next = await look().catch(() => LOOK_MS); // the record cannot be read now; the next look finds the same
    await wait(next);
  }
  following?.close();
}

function nextPause(before: number | undefined, again: boolean, now: number): { readonly until: number; readonly ms: number } {
  const ms = again ? Math.min((before ?? GRACE_MS / 2) * 2, LONGEST_PAUSE_MS) : LONGEST_PAUSE_MS;
  return { until: now + ms, ms };
}

/** Undefined if the address cannot be read, which sending reports. */
function keyIfReadable(receiver: NotifyReceiver, env: Context["io"]["env"]): string | undefined {
  try {
    return receiverKey(receiver, env);
  } catch (error) {
    if (error instanceof ReceiverError) return undefined;
    throw error;
  }
}

type SentQuery = { readonly key: string; readonly due: readonly Notice[]; readonly settled: Set<string> };

/** Leaves out what was sent to the receiver. Reads the record of each session once. */
async function withoutSent(ledger: Ledger, { key, due, settled }: SentQuery): Promise<readonly Notice[]> {
  const nameOf = (notice: Notice): string => `${key} ${noticeKey(notice)}`;
  const open = due.filter((notice) => !settled.has(nameOf(notice)));
  for (const session of new Set(open.map((notice) => notice.session))) {
    const sent = await readSentItems({ ledger, receiver: key }, session);
    for (const notice of open) if (notice.session === session && sent.has(noticeKey(notice))) settled.add(nameOf(notice));
  }
  return open.filter((notice) => !settled.has(nameOf(notice)));
}

/** Calls `hear` for new events, and for those among the newest recorded ones. */
async function followNews(ledger: Ledger, hear: (event: StoredEvent) => void, failed: () => void): Promise<{ close(): void }> {
  const pos = Math.max(0, (await ledger.head()) - NEWS_EVENTS);
  return ledger.subscribe({ pos }, { types: [...NOTICE_EVENT_TYPES] }, (event) => parseEvent(event) && hear(event), failed);
}

/** Finds notices that no living process sends, and when to look again. */
async function dueNotices(
  ledger: Ledger,
  news: Map<string, Notice>,
  now: number,
): Promise<{ readonly due: readonly Notice[]; readonly nextMs: number }> {
  const due: Notice[] = [];
  let nextMs = LOOK_MS;
  const states = new Map<string, string>();
  const stateOf = async (session: string): Promise<string> => {
    const known = states.get(session) ?? (await describeHolder(ledger, session));
    states.set(session, known);
    return known;
  };
  const add = async (notice: Notice): Promise<void> => {
    const age = now - Date.parse(notice.at);
    if (age < GRACE_MS) nextMs = Math.min(nextMs, GRACE_MS - age);
    else if ((await stateOf(notice.session)) === "free") due.push(notice);
  };
  for await (const { id, session, state, requestedAt: at, expiresAt } of readRows(ledger, "approvals")) {
    if (state !== "open") continue;
    await add({ event: "approval", kind: "approval", id, session, at });
    if (expiresAt === null) continue;
    const remindIn = Date.parse(expiresAt) - leadMs(at, expiresAt) - now;
    if (remindIn > 0) nextMs = Math.min(nextMs, remindIn);
    else if ((await stateOf(session)) !== "screen") due.push({ event: "expiring", kind: "approval", id, session, at });
  }
  for await (const { id, session, state, askedAt: at } of readRows(ledger, "questions"))
    if (state === "open") await add({ event: "approval", kind: "question", id, session, at });
  for await (const { id, session, parked, stagedAt: at } of readRows(ledger, "proposals"))
    if (parked) await add({ event: "approval", kind: "proposal", id, session, at });
  for (const [key, notice] of news) {
    if (now - Date.parse(notice.at) > NEWS_MS) news.delete(key);
    else await add(notice);
  }
  return { due, nextMs: Math.max(nextMs, 1) };
}

/** Says who has the session: a terminal where a person sees everything, another living process, which sends its own notices, or none. */
async function describeHolder(ledger: Ledger, session: string): Promise<"screen" | "held" | "free"> {
  const row = await readRow(ledger, "sessions", session);
  if (row?.state !== "running") return "free";
  return row.writer?.door === "tui" ? "screen" : "held";
}

/** A quarter of its time, at most ten minutes. */
function leadMs(since: string, expiresAt: string): number {
  return Math.min(600_000, (Date.parse(expiresAt) - Date.parse(since)) / 4);
}

type Alarm = { readonly wait: (ms: number) => Promise<void>; readonly ring: () => void };

/** A ring shortens the wait to the time after which a notice is due. */
function makeAlarm({ clock }: Pick<SenderParts, "clock">, signal: AbortSignal): Alarm {
  let wake: (() => void) | undefined;
  let isRung = false;
  let soon: (() => void) | undefined;
  const ring = (): void => {
    if (!wake) isRung = true;
    else soon ??= clock.timer(GRACE_MS, wake, { keepsAlive: true });
  };
  return {
    ring,
    wait: async (ms) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const cancel = clock.timer(isRung ? Math.min(ms, GRACE_MS) : ms, resolve, { keepsAlive: true });
      signal.addEventListener("abort", () => resolve(), { once: true });
      if (signal.aborted) resolve();
      await promise;
      cancel();
      soon?.();
      soon = undefined;
      wake = undefined;
      isRung = false;
    },
  };
}
