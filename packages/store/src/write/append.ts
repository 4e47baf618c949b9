import { type Draft, isAppendable, type Lease, LedgerError, type LedgerEvent, SHARED } from "@assent/core";
import type { ChainEntry } from "../rows/rows.ts";
import { contentsOfBatch } from "./contents.ts";
import { type EventStaging, makeDraft, type PreparedEvent, prepareEvent } from "./staging.ts";

/** Throws `event_invalid` or `event_too_large`. */
export function prepareBatch(events: readonly Draft[], blobs: readonly Uint8Array[] = []): readonly PreparedEvent[] {
  const contents = contentsOfBatch(events, blobs);
  return events.map((event, index) => {
    const prepared = prepareEvent(event, isAppendable);
    const { given = [], lent = [] } = contents[index] ?? {};
    return given.length + lent.length === 0 ? prepared : { ...prepared, blobs: [...prepared.blobs, ...given], lent };
  });
}

/** All or nothing. */
export function append(writing: EventStaging, { lease, expected }: Expectation, batch: readonly PreparedEvent[]): readonly LedgerEvent[] {
  const chain = writableChain(writing, { lease, expected });
  const first = batch[0];
  if (chain.seq === 0 && first) registerSession(writing, lease.session, first.at);
  return batch.map((prepared) => writing.stage(lease.session, lease.epoch, prepared));
}

export type Expectation = { readonly lease: Lease; readonly expected: number };

/** Throws `stale_writer` or `sequence_conflict` if another process wrote. */
export function writableChain({ rows }: EventStaging, { lease, expected }: Expectation): ChainEntry {
  const { session, epoch } = lease;
  const chain = rows.chains.get(session);
  if (!chain || session === SHARED || chain.epoch !== epoch) throw staleWriter(lease, chain?.epoch, chain?.holder?.pid);
  if (chain.seq === expected) return chain;
  throw new LedgerError("sequence_conflict", `Expected ${expected} as the last event of ${session}, found ${chain.seq}.`, {
    session,
    expected,
    actual: chain.seq,
  });
}

export function staleWriter({ session, epoch }: Lease, current = 0, by?: number): LedgerError {
  const pid = by ?? null;
  const who = pid === null ? "another process" : `pid ${pid}`;
  const detail = { session, mine: epoch, current, pid };
  return new LedgerError("stale_writer", `This session was taken over by ${who}.`, detail);
}

/** The shared chain reveals a removed session. */
function registerSession(writing: EventStaging, session: string, at: string): void {
  stageShared(writing, makeDraft("session.registered", { session }, at));
}

export function stageShared(writing: EventStaging, event: Draft): LedgerEvent {
  return writing.stage(
    SHARED,
    sharedEpoch(writing),
    prepareEvent(event, () => true),
  );
}

export function sharedEpoch({ rows }: EventStaging): number {
  return rows.chains.get(SHARED)?.epoch ?? 0;
}
