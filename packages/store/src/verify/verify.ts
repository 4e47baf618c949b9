import { LedgerError, SHARED } from "@assent/core";
import { openReadOnly } from "../database/connection.ts";
import { type Database, nodeSqlite, type OpenDatabase } from "../database/database.ts";
import { isMalformed, isMalformedFile } from "../database/malformed.ts";
import { schemaState, schemaVersion } from "../database/migrate.ts";
import { SCHEMA_VERSION } from "../database/schema.ts";
import { type Mark, openMarks } from "../files/marks.ts";
import { hasLedger, looseModes, noLedger, refuseUnreadable } from "../files/state-directory.ts";
import { octal, type StatePaths, statePaths } from "../files/state-paths.ts";
import { beyondRepair, storeError, storeNewer, withoutAdvice } from "../files/store-error.ts";
import { isLogMissing, missingLog } from "../open/create-store.ts";
import { type OpenStoreOptions, openStore, storeIdOf } from "../open/open-store.ts";
import { unsettledMarks } from "../open/restored.ts";
import type { StartOf } from "../write/lease.ts";
import { type Anchor, checkAnchors } from "./anchor.ts";
import { type Finding, finding, type Head } from "./finding.ts";
import { locateDamage } from "./locate-damage.ts";
import { rebuildLists } from "./rebuild.ts";
import { type RepairedChain, repairStore } from "./repair.ts";
import { type Scan, scanEvents } from "./scan.ts";
import { checkBlobs, checkLists, checkSnapshots } from "./verify-lists.ts";

/** The options of `verifyStore`. */
export type VerifyOptions = Pick<OpenStoreOptions, "directory" | "clock" | "openDatabase"> & {
  /** Also checks the shared chain. */
  readonly session?: string;
  /** Those of other stores do not count, unless there are no others. */
  readonly anchors?: readonly Anchor[];
  readonly rebuild?: boolean;
  /** Cuts damaged chains and keeps a copy of the file. */
  readonly repair?: boolean;
  readonly startOf?: StartOf;
};

/** The findings after any repair. `ok` allows warnings. */
export type VerifyReport = {
  readonly ok: boolean;
  readonly store: string;
  readonly sessions: number;
  readonly events: number;
  readonly findings: readonly Finding[];
  readonly heads: readonly Head[];
  readonly repaired?: readonly RepairedChain[];
};

/** Checks a store, also while sessions run. Writes only for `repair` and `rebuild`. */
export async function verifyStore(options: VerifyOptions): Promise<VerifyReport> {
  const paths = statePaths(options.directory);
  if (!hasLedger(paths)) throw noLedger(paths);
  refuseUnreadable(paths);
  const modes = looseModes(paths).map(({ path, mode }) =>
    finding("permissions", {}, `${path} has mode ${octal(mode)}: others may read it.`),
  );
  if (!options.repair && isLogMissing(paths)) return makeReport({ store: "", findings: [...modes, missingLogFinding(paths)] });
  const repaired = options.repair || options.rebuild ? await repairOrRebuild(options) : [];
  const open = options.openDatabase ?? nodeSqlite;
  const marks = openMarks(paths.marks).list(); // read before the database, because the marked events were committed earlier
  const report = inspectFile(paths, open, { ...options, modes, marks });
  return options.repair ? { ...report, repaired } : report;
}

async function repairOrRebuild(options: VerifyOptions): Promise<readonly RepairedChain[]> {
  try {
    return await openAndRepair(options);
  } catch (error) {
    throw options.repair ? beyondRepair(error, statePaths(options.directory)) : error;
  }
}

async function openAndRepair({
  repair,
  rebuild,
  startOf,
  directory,
  clock,
  openDatabase,
}: VerifyOptions): Promise<readonly RepairedChain[]> {
  const store = await openStore({
    directory,
    createIfMissing: false,
    asIs: true,
    isRepair: repair === true,
    ...(clock && { clock }),
    ...(openDatabase && { openDatabase }),
  });
  try {
    if (store.refusal) throw store.refusal;
    const repaired = repair ? repairStore(store, startOf) : [];
    if (rebuild) rebuildLists(store);
    return repaired;
  } catch (error) {
    throw storeError(error, store.paths);
  } finally {
    store.database.close();
  }
}

type VerifyScope = Pick<VerifyOptions, "session" | "anchors"> & { readonly modes: readonly Finding[]; readonly marks: readonly Mark[] };

function inspectFile(paths: StatePaths, open: OpenDatabase, wanted: VerifyScope): VerifyReport {
  try {
    const database = openReadOnly(paths, open);
    try {
      database.exec("begin"); // a consistent view while others write
      return inspect(database, wanted);
    } finally {
      database.close();
    }
  } catch (cause) {
    const error = storeError(cause, paths);
    if (!(error instanceof LedgerError) || error.type !== "store_corrupt") throw error;
    return makeReport({ store: "", findings: [...wanted.modes, unreadableFile(error)] });
  }
}

function inspect(database: Database, { session, anchors = [], modes, marks }: VerifyScope): VerifyReport {
  if (schemaState(database) === "newer") throw storeNewer(schemaVersion(database), SCHEMA_VERSION);
  const store = storeIdOf(database);
  const malformed = session === undefined && isMalformedFile(database) ? locateDamage(database, store) : [];
  try {
    const scan = scanEvents(database, { store, only: session });
    if (session !== undefined && !isKnownSession(scan, session))
      throw new LedgerError("session_not_found", `There is no session '${session}'.`, { session });
    const findings = [
      ...modes,
      ...malformed,
      ...scan.findings,
      ...checkLists(database, scan, session),
      ...checkBlobs(database, scan.blobs),
      ...checkSnapshots(database, scan, { store, only: session }),
      ...checkMarks(database, marks),
      ...checkAnchors(database, store, anchors),
    ];
    return makeReport({ store, findings, scan });
  } catch (error) {
    if (!isDamage(error, database)) throw error;
    return makeReport({ store, findings: [...modes, ...(malformed.length > 0 ? malformed : locateDamage(database, store))] });
  }
}

/** Opening would create a new log and hide that one was missing. */
function missingLogFinding(paths: StatePaths): Finding {
  return { ...finding("store_corrupt", {}, missingLog(paths)), hint: "Put it back, or continue without it: assent verify --repair" };
}

function checkMarks(database: Database, marks: readonly Mark[]): readonly Finding[] {
  return missingMarks(unsettledMarks(database, marks));
}

/** Marks whose events are missing. */
export function missingMarks(missing: readonly Mark[]): readonly Finding[] {
  if (missing.length === 0) return [];
  const newest = Math.max(...missing.map(({ pos }) => pos));
  const message = `Event ${newest} was committed here and is missing: an older copy was put in place of the ledger, or its end was cut off.`;
  return [finding("store_restored", {}, message)];
}

function unreadableFile(error: LedgerError): Finding {
  return finding("store_corrupt", {}, withoutAdvice(error));
}

/** A malformed file may return rows of another table. */
function isDamage(error: unknown, database: Database): boolean {
  return isMalformed(error) || (error instanceof TypeError && isMalformedFile(database));
}

export function isKnownSession({ chains, damage, rows }: Scan, session: string): boolean {
  return chains.has(session) || damage.has(session) || rows.all.chains.has(session);
}

export function makeReport({ store, findings, scan }: Pick<VerifyReport, "store" | "findings"> & { readonly scan?: Scan }): VerifyReport {
  const heads = [...(scan?.chains.values() ?? [])].map(({ session, seq, hash }) => ({ session, seq, hash }));
  const sessions = heads.filter(({ session }) => session !== SHARED).length;
  return { ok: findings.every(({ severity }) => severity === "warning"), store, sessions, events: scan?.events ?? 0, findings, heads };
}
