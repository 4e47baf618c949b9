import type { NotifyReceiver, NotifyReceivers } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { warn } from "../io/output.ts";
import type { Store } from "../store/store.ts";
import { type Notice, noticeKey } from "./notice.ts";
import { outsideSiblings } from "./outside-siblings.ts";
import { createSenderParts, senderTo, tellReceiver } from "./sender.ts";

/** Tells receivers about notices of this process. */
export type Announcer = {
  readonly add: (notices: readonly Notice[]) => void;
  /** Sends what waits to be sent and waits for the answers, for a limited time. */
  readonly settle: (limitMs: number) => Promise<void>;
};

/** The calls of one turn are asked about at nearly the same time, and become one message. */
const BATCH_MS = 300;
/** After these, `assent inbox` tries. */
const RETRY_MS: readonly number[] = [1_000, 5_000, 30_000, 120_000];

/** Sends in the background. Nothing waits for it, and what it cannot deliver is left to `assent inbox`. */
export function createAnnouncer(context: Context, store: Store, configured: NotifyReceivers): Announcer {
  const parts = createSenderParts(context, store);
  const { ledger, clock } = parts;
  const stopping = new AbortController();
  const sending = new Set<Promise<void>>();
  const receivers = Object.entries(configured);
  let waiting = new Map<string, Notice>();
  let cancelBatch: (() => void) | undefined;

  const tell = async (name: string, receiver: NotifyReceiver, notices: readonly Notice[], attempt: number): Promise<void> => {
    const told = await tellReceiver(senderTo(parts, name), receiver, notices, stopping.signal);
    if (told === "done" || told.delivered) return;
    const delay = told.again ? RETRY_MS[attempt] : undefined;
    if (delay !== undefined && !stopping.signal.aborted) clock.timer(delay, () => start(tell(name, receiver, notices, attempt + 1)));
    else if (!told.again) await warn(context.io, `the receiver ${name} of notifications cannot be used: ${told.said}`);
  };
  const start = (work: Promise<void>): void => {
    const watched = work.catch(() => undefined).finally(() => sending.delete(watched)); // the record stays, and the inbox looks at it
    sending.add(watched);
  };
  const flush = (): void => {
    cancelBatch?.();
    cancelBatch = undefined;
    const batch = [...waiting.values()];
    waiting = new Map();
    if (batch.length === 0) return;
    const all = outsideSiblings(ledger, batch);
    for (const [name, receiver] of receivers) start(all.then((notices) => tell(name, receiver, notices, 0)));
  };
  return {
    add: (notices) => {
      for (const notice of notices) waiting.set(noticeKey(notice), notice);
      cancelBatch ??= clock.timer(BATCH_MS, flush);
    },
    settle: async (limitMs) => {
      flush();
      if (sending.size === 0) return;
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const cancel = clock.timer(limitMs, resolve, { keepsAlive: true });
      await Promise.race([late, Promise.all(sending)]);
      cancel();
      stopping.abort();
    },
  };
}
