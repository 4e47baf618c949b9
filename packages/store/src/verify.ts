import { LedgerError } from "@assent/core";
import { type Anchor, checkAnchor } from "./anchor.ts";
import { openReadOnly } from "./connection.ts";
import { type Database, nodeSqlite, query, transact } from "./database.ts";
import { type Finding, finding, type Head } from "./finding.ts";
import { locateDamage } from "./locate-damage.ts";
import { type OpenStoreOptions, openStore, storeIdOf } from "./open-store.ts";
import { writeLists } from "./rebuild.ts";
import { repairStore } from "./repair.ts";
import { type Scan, scanEvents } from "./scan.ts";
import { looseModes, prepareDirectory } from "./state-directory.ts";
import { octal, type StatePaths, statePaths } from "./state-paths.ts";
import { storeError } from "./store-error.ts";
import { checkBlobs, checkLists, checkSnapshots } from "./verify-lists.ts";

/** What to check, and whether to do something about it. */
export type VerifyOptions = Pick<OpenStoreOptions, "directory" | "clock" | "openDatabase"> & {
  /** Only this session, and the shared chain it depends on. */
  readonly session?: string;
  /** Heads that were written down earlier. */
  readonly anchor?: Anchor;
  /** Makes the lists again from the events. */
  readonly rebuild?: boolean;
  /** Sets the damaged file aside, cuts damaged chains after their last good event, and says so in the record. */
  readonly repair?: boolean;
};

/** What was found. `ok` allows warnings. */
export type VerifyReport = {
  readonly ok: boolean;
  readonly store: string;
  readonly sessions: number;
  readonly events: number;
  readonly findings: readonly Finding[];
  readonly heads: readonly Head[];
};
