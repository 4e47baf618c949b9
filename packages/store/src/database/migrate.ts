import { closeSync, fsyncSync, linkSync, openSync, readSync, rmSync } from "node:fs";
import { createPrivateFile } from "../files/state-directory.ts";
import { type Database, query, transact } from "./database.ts";
import { SCHEMA, SCHEMA_VERSION } from "./schema.ts";

/** Runs in a transaction and must not change stored events. */
export type Migration = { readonly from: number; readonly up: (database: Database) => void };

/** Empty, because no version before 6 was released. */
export const MIGRATIONS: readonly Migration[] = [];

export type SchemaState = "empty" | "current" | "older" | "newer";

export function schemaState(database: Database, known: number = SCHEMA_VERSION): SchemaState {
  const version = schemaVersion(database);
  if (version === 0 && query(database, "select 1 from sqlite_schema limit 1").get() === undefined) return "empty";
  if (version === known) return "current";
  return version < known ? "older" : "newer";
}

export function schemaVersion(database: Database): number {
  return query<{ user_version: number }>(database, "pragma user_version").get()?.user_version ?? 0;
}

/** `first` writes the first records. Does nothing if another process was faster. */
export function createTables(database: Database, first: () => void): void {
  transact(database, () => {
    if (schemaState(database) !== "empty") return;
    database.exec(SCHEMA);
    database.exec(`pragma user_version=${SCHEMA_VERSION}`);
    first();
  });
}

export type MigrationRun = {
  readonly file: string;
  readonly migrations: readonly Migration[];
  /** Called inside the step's transaction. */
  readonly record: (from: number, to: number) => void;
};

/** Runs each migration in its own transaction. Keeps a copy of the old database (`ledger.db.vN`). */
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

/** Drops a copy that another process's migration overtook. */
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
