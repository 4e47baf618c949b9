import type { Draft, LedgerEvent } from "../model/events.ts";
import { type Chain, type Chains } from "./memory-chains.ts";
/** How to take back what was applied, in the order it was applied. A single event needs none: it changes all of its rows or none. */
export type Undo = (() => void)[];
/** What to throw when a write failed, after nothing of it is left in any row: an event that the rules refuse is `event_invalid`. */
export declare function refusal(error: unknown, undo: Undo | undefined): unknown;
/** Takes back everything, newest first. */
export declare function rollBack(undo: Undo): void;
/** `event_invalid` for an event that does not belong through this door. */
export declare function refuseType(
  {
    type,
  }: {
    readonly type: string;
  },
  belongs: boolean,
): void;
/** The event at the place it will have, the `index`-th of its batch. */
export declare function place(
  chains: Chains,
  chain: Chain,
  {
    draft,
    index,
  }: {
    draft: Draft;
    index: number;
  },
): LedgerEvent;
/** Changes the rows of whatever the event concerns. All of them are computed before the first is changed, so a throw changes none. */
export declare function apply(
  chains: Chains,
  event: LedgerEvent,
  {
    owner,
    undo,
  }: {
    owner: Chain;
    undo: Undo | undefined;
  },
): void;
/** Stores an applied event: from here on it is part of the record. */
export declare function keep(chains: Chains, chain: Chain, event: LedgerEvent): void;
