import type { Clock, Ledger, Tool } from "@assent/core";
import type { OpenLedgerOptions } from "@assent/store";

/** What a test entry may put in place of the real thing. The published program passes nothing. */
export type Overrides = {
  /** Opens the database file of the store. */
  readonly openDatabase?: NonNullable<OpenLedgerOptions["openDatabase"]>;
  /** Wraps the ledger every command works through. */
  readonly ledger?: (ledger: Ledger) => Ledger;
  /** Tools beside the built-in ones. */
  readonly tools?: readonly Tool[];
  readonly clock?: Clock;
};
