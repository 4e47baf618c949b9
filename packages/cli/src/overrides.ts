import type { Clock, Ledger, Tool } from "@assent/core";
import type { OpenLedgerOptions } from "@assent/store";
import type { openPostgresLedger } from "@assent/store-postgres";

/** What tests may replace. The published program passes nothing. */
export type Overrides = {
  readonly openDatabase?: NonNullable<OpenLedgerOptions["openDatabase"]>;
  readonly openPostgres?: typeof openPostgresLedger;
  readonly ledger?: (ledger: Ledger) => Ledger;
  readonly tools?: readonly Tool[];
  readonly clock?: Clock;
};
