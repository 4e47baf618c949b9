import { closeSync, constants, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type Database, nodeSqlite, query } from "../database/database.ts";
import { primaryCode, SQLITE, sqliteCode } from "../database/sqlite-code.ts";

/** A note that this process may change. `keep` replaces its text; both end the right to change it. */
export type TakenNote = { readonly text: string | undefined; readonly keep: (text: string) => void; readonly release: () => void };

/** A text in a small file that one process at a time may change. The right ends with the process, however it ends. */
export type SharedNote = {
  /** Undefined while another process has it. */
  readonly take: () => TakenNote | undefined;
  /** The text that was kept last. */
  readonly read: () => string | undefined;
  readonly close: () => void;
};

/** Opens a note; its file is created when it is first taken. Node has no `flock`, so the file is a database with one row. */
export function openSharedNote(file: string): SharedNote {
  let opened: Database | undefined;
  const open = (): Database => {
    opened ??= openNoteFile(file);
    return opened;
  };
  const read = (): string | undefined => query<{ text: string }>(open(), "select text from note where id = 1").get()?.text;
  return {
    take: () => {
      const database = open();
      if (database.isTransaction || !tryBegin(database)) return undefined;
      const end = (word: "commit" | "rollback"): void => {
        if (database.isTransaction) database.exec(word);
      };
      const keep = (text: string): void => {
        query(database, "insert into note values (1, ?) on conflict do update set text = excluded.text").run(text);
        end("commit");
      };
      return { text: read(), keep, release: () => end("rollback") };
    },
    read: () => (existsSync(file) ? read() : undefined),
    close: () => opened?.close(),
  };
}

function openNoteFile(file: string): Database {
  createPrivately(file);
  const database = nodeSqlite(file, { readOnly: false, timeout: READ_MS });
  database.exec("create table if not exists note (id integer primary key, text text not null) strict");
  return database;
}

/** Readers wait while a change is committed. */
const READ_MS = 1_000;

function tryBegin(database: Database): boolean {
  try {
    database.exec("pragma busy_timeout=0; begin immediate");
    return true;
  } catch (error) {
    if (primaryCode(sqliteCode(error) ?? 0) === SQLITE.BUSY) return false;
    throw error;
  } finally {
    database.exec(`pragma busy_timeout=${READ_MS}`);
  }
}

function createPrivately(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const { O_CREAT, O_RDWR, O_NOFOLLOW } = constants;
  if (!existsSync(file)) closeSync(openSync(file, O_CREAT | O_RDWR | O_NOFOLLOW, 0o600));
}
