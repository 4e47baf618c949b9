import { type ApprovalRow, type Cursor, type EventFilter, type GrantRow, type SessionRow } from "../ledger-port.ts";
import type { Holder, LedgerEvent } from "../model/events.ts";
import type { Json } from "../model/json.ts";
import type { CallRow } from "../model/ledger-rules.ts";
/** One session's events in order, and what a write to it is compared with. */
export type Chain = {
  readonly session: string;
  readonly events: LedgerEvent[];
  /** Events of the shared chain that name the session. */
  readonly named: LedgerEvent[];
  /** Calls that have not ended. */
  readonly calls: Map<string, CallRow>;
  /** Undefined: nobody has it, or whoever had it closed the session. */
  holder: Holder | undefined;
  epoch: number;
  policySeq: number;
  snapshot:
    | {
        readonly seq: number;
        readonly state: Json;
      }
    | undefined;
  /** The list's row, folded up to `listedPos` when somebody looks. */
  listed: SessionRow | undefined;
  listedPos: number;
};
/** Everything a memory ledger holds; events are kept by reference and never copied. */
export type Chains = {
  /** All events; `pos` is the index plus one. */
  readonly log: LedgerEvent[];
  readonly bySession: Map<string, Chain>;
  readonly approvals: Map<string, ApprovalRow>;
  readonly grants: Map<string, GrantRow>;
  /** By approval or grant: the newest event of its life, which is what stands. */
  readonly standing: Map<string, LedgerEvent>;
  epoch: number;
  /** The newest `at`, so that a clock set back extends no deadline. */
  newestAt: string;
};
/** A ledger without events. */
export declare function emptyChains(): Chains;
/** The session's chain, begun if need be. */
export declare function chainOf(chains: Chains, session: string): Chain;
/** The next event up to a position, or undefined when there is none yet. It reads only the chains that the filter names. */
export type Reader = (until: number) => LedgerEvent | undefined;
/** Reads strictly after the cursor, in order; `cursor_ahead` if the ledger is shorter than that. */
export declare function makeReader(chains: Chains, from: Cursor, filter: EventFilter): Reader;
