import { type Ledger, readRow } from "@assent/core";
import { callKey } from "@assent/guard";
import { nodeDigest } from "@assent/host";
import type { NotifyReceiver, NotifyReceivers } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { warn } from "../io/output.ts";
import type { Store } from "../store/store.ts";
import { type Notice, noticeKey } from "./notice.ts";
import { createSenderParts, notifyReceiver, senderTo } from "./sender.ts";

/** Sends notices of this process to receivers. */
export type Announcer = {
  readonly add: (notices: readonly Notice[]) => void;
  /** Sends what waits to be sent and waits for the answers, for a limited time. */
  readonly settle: (limitMs: number) => Promise<void>;
};

/** Approvals of one turn are opened at nearly the same time, and become one message. */
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
    const result = await notifyReceiver(senderTo(parts, name), receiver, notices, stopping.signal);
    if (result === "done" || result.delivered) return;
    const delay = result.again ? RETRY_MS[attempt] : undefined;
    if (delay !== undefined && !stopping.signal.aborted) clock.timer(delay, () => start(tell(name, receiver, notices, attempt + 1)));
    else if (!result.again) await warn(context.io, `the receiver ${name} of notifications cannot be used: ${result.detail}`);
  };
  const start = (work: Promise<void>): void => {
    const watched = work.catch(() => undefined).finally(() => sending.delete(watched)); // `assent inbox` sends it later, from the record
    sending.add(watched);
  };
  const flush = (): void => {
    cancelBatch?.();
    cancelBatch = undefined;
    const batch = [...waiting.values()];
    waiting = new Map();
    if (batch.length === 0) return;
    const all = addApprovalsOfAgent(ledger, batch);
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

const MOST_APPROVALS = 200;

/** Adds open approvals of the same guarded agent: each of its calls has a process of its own, but they are one message. */
async function addApprovalsOfAgent(ledger: Ledger, notices: readonly Notice[]): Promise<readonly Notice[]> {
  const [first] = notices;
  const group = first && (await readRow(ledger, "sessions", first.session))?.group;
  if (!group) return notices;
  const { group: prefix } = callKey(nodeDigest, group, {});
  const known = new Set(notices.map(({ id }) => id));
  const open = await ledger.pending("approvals", { newestFirst: true, limit: MOST_APPROVALS });
  const others = open.filter(({ id, session, state }) => state === "open" && session.startsWith(prefix) && !known.has(id));
  return [
    ...notices,
    ...others.map(({ id, session, requestedAt: at }): Notice => ({ event: "approval", kind: "approval", id, session, at })),
  ];
}
