import assert from "node:assert/strict";
import {
  type ClaimLost,
  type Cursor,
  type EventFilter,
  type Lease,
  type Ledger,
  LedgerError,
  type LedgerErrorType,
} from "../src/ledger-port.ts";
import type { Draft, LedgerEvent, StoredEvent } from "../src/model/events.ts";
import type { Holder } from "../src/model/holder.ts";
import { createdDraft, draftOf } from "./drafts.ts";

/** A fresh, empty store for one case. */
export type LedgerUnderTest = {
  readonly ledger: Ledger;
  /** Who a live holder in this process is; made up when absent. */
  readonly holder?: Holder;
  /** The same store closed and opened again. */
  readonly reopen?: () => Promise<Ledger>;
  /** Another, independent handle on the same store, as another process would have. */
  readonly second?: () => Promise<Ledger>;
  /** The next write through `ledger` fails, as on a disk that is full for a moment; the one after it does not. */
  readonly fail?: () => void | Promise<void>;
  readonly close: () => Promise<void>;
};

/** What a case works with: `reopen`, `second` and `fail` fail with a sentence where the implementation gave none. */
export type LedgerBench = Required<Omit<LedgerUnderTest, "close">>;

/** One case of the contract: its id, its sentence and what shows it. */
export type LedgerCase = { readonly id: string; readonly title: string; readonly run: (bench: LedgerBench) => Promise<void> };

/** A well-formed session id. */
export function sessionId(letter: string): string {
  return `s_${letter.repeat(20).slice(0, 20)}`;
}

/** A writer that knows the head of its chain. */
export type Writer = {
  readonly session: string;
  readonly lease: Lease;
  readonly head: () => number;
  readonly append: (...events: readonly Draft[]) => Promise<readonly LedgerEvent[]>;
  /** Appends events and the contents they name. */
  readonly appendWith: (blobs: readonly Uint8Array[], ...events: readonly Draft[]) => Promise<readonly LedgerEvent[]>;
  readonly claim: (claimed: Draft<"call.claimed">) => Promise<{ readonly won: LedgerEvent } | { readonly lost: ClaimLost }>;
};

/** Acquires the session and, if it is new, begins it with the two events every session has. */
export async function begin({ ledger, holder }: LedgerBench, session: string = sessionId("a"), takeOver = false): Promise<Writer> {
  const lease = await ledger.acquire(session, holder, takeOver);
  let head = lease.head;
  const appendWith: Writer["appendWith"] = async (blobs, ...events) => {
    const stored = await ledger.append(lease, head, { events, durability: "normal", blobs });
    head += stored.length;
    return stored;
  };
  const writer: Writer = {
    session,
    lease,
    head: () => head,
    append: (...events) => appendWith([], ...events),
    appendWith,
    claim: async (claimed) => {
      const answer = await ledger.claim(lease, head, claimed);
      if ("won" in answer) head += 1;
      return answer;
    },
  };
  if (head === 0) await writer.append(createdDraft(), draftOf("session.opened", { ...holder, recovered: [] }));
  return writer;
}

/** Everything a reader is given. */
export async function readAll(ledger: Ledger, from: Cursor = { pos: 0 }, filter: EventFilter = {}): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const event of ledger.read(from, filter)) events.push(event);
  return events;
}

/** The error must be a `LedgerError` of this type. */
export async function rejectsWith(type: LedgerErrorType, attempt: Promise<unknown>): Promise<LedgerError> {
  const failure = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(failure instanceof LedgerError, `expected ${type}, got ${String(failure)}`);
  assert.equal(failure.type, type, failure.message);
  return failure;
}

/** The stored events of a won answer. */
export function wonBy(outcome: Awaited<ReturnType<Ledger["answer"]>>): readonly LedgerEvent[] {
  assert.ok("won" in outcome, `lost to ${"lost" in outcome ? outcome.lost.type : ""}`);
  return outcome.won;
}

/** What a lost answer lost to. */
export function lostTo(outcome: Awaited<ReturnType<Ledger["answer"]>>): LedgerEvent {
  assert.ok("lost" in outcome, "the answer was stored");
  return outcome.lost;
}

/** Collects what a subscription delivers; `seen` waits for an event, without polling. */
export type Observer = {
  readonly events: readonly StoredEvent[];
  readonly seen: (isIt: (event: StoredEvent) => boolean) => Promise<void>;
  readonly close: () => void;
};

/** Subscribes and keeps what comes. */
export function observe(ledger: Ledger, from: Cursor, filter: EventFilter = {}): Observer {
  const events: StoredEvent[] = [];
  const waiting = new Set<{ readonly isIt: (event: StoredEvent) => boolean; readonly resolve: () => void }>();
  const { close } = ledger.subscribe(from, filter, (event) => {
    events.push(event);
    for (const one of waiting) {
      if (!one.isIt(event)) continue;
      waiting.delete(one);
      one.resolve();
    }
  });
  const seen = (isIt: (event: StoredEvent) => boolean): Promise<void> => {
    if (events.some(isIt)) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.add({ isIt, resolve });
    return promise;
  };
  return { events, seen, close };
}
