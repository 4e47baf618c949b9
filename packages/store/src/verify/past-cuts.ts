import { type EventBodies, SHARED } from "@assent/core";
import { type Database, query } from "../database/database.ts";
import type { Head } from "./finding.ts";

/** Removed events are not missing, and events about them are void. */
export type PastCuts = {
  readonly isPruned: (session: string) => boolean;
  /** The head that the session had when it was pruned. */
  readonly prunedHead: (session: string) => Head | undefined;
  /** True if a repair after position `pos` removed `seq`. */
  readonly isCut: (session: string, seq: number, pos: number) => boolean;
  readonly isRepaired: (session: string) => boolean;
};

export type ChainCut = { readonly pos: number; readonly goodSeq: number };

type CutRecord = { readonly pos: number; readonly type: string; readonly body: string };

export const SELECT_CUTS: string = `select pos, type, body from events where session = '${SHARED}' and type in ('store.pruned', 'store.repaired') order by seq`;

export function readPastCuts(database: Database, also?: ReadonlyMap<string, ChainCut>): PastCuts {
  return collectPastCuts(query<CutRecord>(database, SELECT_CUTS).iterate(), also);
}

/** `also`: cuts that are not recorded yet. */
export function collectPastCuts(records: Iterable<CutRecord>, also: ReadonlyMap<string, ChainCut> = new Map()): PastCuts {
  const pruned = new Map<string, Head>();
  const repaired = new Map<string, readonly ChainCut[]>([...also].map(([session, cut]) => [session, [cut]]));
  for (const { pos, type, body } of records) {
    // Parsing: the store wrote both bodies; the chain check finds changed ones.
    const { session, goodSeq, seq, hash } = JSON.parse(body) as EventBodies["store.repaired"] & Head;
    if (type === "store.pruned") pruned.set(session, { session, seq, hash });
    else repaired.set(session, [...(repaired.get(session) ?? []), { pos, goodSeq }]);
  }
  return {
    isPruned: (session) => pruned.has(session),
    prunedHead: (session) => pruned.get(session),
    isCut: (session, seq, pos) => repaired.get(session)?.some((cut) => cut.pos > pos && cut.goodSeq < seq) === true,
    isRepaired: (session) => repaired.has(session),
  };
}
