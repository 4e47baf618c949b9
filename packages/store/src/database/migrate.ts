import { closeSync, fsyncSync, linkSync, openSync, readSync, rmSync } from "node:fs";
import { createPrivateFile } from "../files/state-directory.ts";
import { type Database, query, transact } from "./database.ts";
import { EMPTY_LISTS_OF_2, INDEX_OF_3, INDEX_OF_4, LISTS_OF_2, SCHEMA, SCHEMA_VERSION } from "./schema.ts";

/** One step from a version of the tables to the next. It runs inside a transaction and must not touch stored events. */
export type Migration = { readonly from: number; readonly up: (database: Database) => void };

/** Every step there is, in order. */
export const MIGRATIONS: readonly Migration[] = [
  { from: 1, up: (database) => database.exec(LISTS_OF_2) },
  { from: 2, up: (database) => database.exec(INDEX_OF_3) },
  { from: 3, up: (database) => database.exec(`drop index events_type; ${INDEX_OF_4}`) },
];

/** Lets a file of an older version that cannot be migrated be read: the lists it has not are empty. Nothing of that is stored. */
export function addMissingLists(database: Database): void {
  if (schemaVersion(database) === 1) database.exec(EMPTY_LISTS_OF_2);
}

/** What a database is to this program. */
export type SchemaState = "empty" | "current" | "older" | "newer";

/** How the tables of a database relate to those this program knows. */
export function schemaState(database: Database, known: number = SCHEMA_VERSION): SchemaState {
  const version = schemaVersion(database);
  if (version === 0 && query(database, "select 1 from sqlite_schema limit 1").get() === undefined) return "empty";
  if (version === known) return "current";
  return version < known ? "older" : "newer";
}

/** The version written in the database. */
export function schemaVersion(database: Database): number {
  return query<{ user_version: number }>(database, "pragma user_version").get()?.user_version ?? 0;
}

/** Makes the tables of a new store in one transaction; `first` writes its first records. Does nothing when another process was faster. */
export function createTables(database: Database, first: () => void): void {
  transact(database, () => {
    if (schemaState(database) !== "empty") return;
    database.exec(SCHEMA);
    database.exec(`pragma user_version=${SCHEMA_VERSION}`);
    first();
  });
}

/** How a store is brought up to date. */
export type MigrationRun = {
  readonly file: string;
  readonly migrations: readonly Migration[];
  /** Records the step, inside its transaction. */
  readonly record: (from: number, to: number) => void;
};

/**
 * Takes each missing step, forward only, one transaction each. A copy of the database as it was stays beside it (`ledger.db.vN`).
 * A crash in between leaves the old version whole.
 */
export function migrate(database: Database, { file, migrations, record }: MigrationRun): void {
  for (let step = nextStep(database, migrations); step; step = nextStep(database, migrations)) {
    copyDatabase(database, `${file}.v${step.from}`, step.from);
    takeStep(database, step, record);
  }
}

function nextStep(database: Database, migrations: readonly Migration[]): Migration | undefined {
  const version = schemaVersion(database);
  return migrations.find(({ from }) => from === version);
}

function takeStep(database: Database, { from, up }: Migration, record: MigrationRun["record"]): void {
  transact(database, () => {
    if (schemaVersion(database) !== from) return; // another process took it
    up(database);
    record(from, from + 1);
    database.exec(`pragma user_version=${from + 1}`);
  });
}

/** Made aside and put in place whole; one that another process's step overtook is dropped, because it is not of this version any more. */
function copyDatabase(database: Database, target: string, version: number): void {
  const made = `${target}-${process.pid}`;
  rmSync(made, { force: true });
  try {
    createPrivateFile(made);
    query(database, "vacuum into ?").run(made);
    if (readFileVersion(made) !== version) return;
    rmSync(target, { force: true });
    linkSync(made, target);
  } finally {
    rmSync(made, { force: true });
  }
}

/** SQLite keeps `user_version` at byte 60 of the file. */
function readFileVersion(file: string): number {
  const handle = openSync(file, "r");
  try {
    const header = Buffer.alloc(4);
    readSync(handle, header, 0, 4, 60);
    fsyncSync(handle);
    return header.readInt32BE();
  } finally {
    closeSync(handle);
  }
}
