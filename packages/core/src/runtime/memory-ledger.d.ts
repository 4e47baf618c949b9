import { type Ledger } from "../ledger-port.ts";
import type { Clock, Ids } from "../ports.ts";
/** What a memory ledger may be given; without a clock it takes the system's, without ids a random store id. */
export type MemoryLedgerOptions = {
  readonly clock?: Pick<Clock, "now">;
  readonly ids?: Ids;
};
/**
 * A ledger that lives as long as the object: for embedding without a store, and for tests.
 *
 * It keeps the drafts' bodies by reference, so whoever appends must not change them; it makes no canonical form and no hashes.
 * A session is held until its holder closes it or somebody takes it over: a process has no dead holders in its own memory.
 */
export declare function memoryLedger({ clock, ids }?: MemoryLedgerOptions): Ledger;
