import { closeSync, constants, mkdirSync, openSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Database, query } from "../database/database.ts";
import { isCode, syncDirectory } from "./state-directory.ts";

/** An event that the database must contain: it was committed before its mark was written. */
export type Mark = { readonly pos: number; readonly hash: string };

/**
 * Marks are empty files `POS-HASH` beside the database. One is written after a commit that used up an answer, before the effect, and when a process closes the
 * ledger. A database that lacks the event of a mark is older than the mark: a backup was copied over it, or its end was cut off.
 *
 * Positions grow with every commit, so a database that contains the newest marked event contains the older ones, and only the newest mark is kept. Each mark has a
 * name of its own: a directory that is copied over this one brings its old mark along and leaves the newer one in place.
 */
export type Marks = {
  /** Lists the marks. Call it before reading the database, because the events they name were committed earlier. */
  readonly list: () => readonly Mark[];
  /** Writes a mark, durable when this returns, and removes older ones. */
  readonly put: (mark: Mark) => void;
  readonly remove: (marks: readonly Mark[]) => void;
};

const NAME = /^(\d{1,16})-([0-9a-f]{64})$/;

/** The marks in a directory, which is made with the first of them. */
export function openMarks(directory: string): Marks {
  const list = (): readonly Mark[] => listNames(directory).flatMap(parseName);
  const remove = (marks: readonly Mark[]): void => {
    for (const mark of marks) rmSync(markFile(directory, mark), { force: true });
  };
  return {
    list,
    put: (mark) => {
      const others = list();
      if (others.every(({ pos }) => pos < mark.pos)) createMark(directory, mark);
      syncDirectory(directory);
      remove(others.filter(({ pos }) => pos < mark.pos));
    },
    remove,
  };
}

function markFile(directory: string, { pos, hash }: Mark): string {
  return join(directory, `${pos}-${hash}`);
}

function parseName(name: string): readonly Mark[] {
  const [, pos, hash] = NAME.exec(name) ?? [];
  return pos !== undefined && hash !== undefined ? [{ pos: Number(pos), hash }] : [];
}

function listNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isCode(error, "ENOENT")) return [];
    throw error;
  }
}

function createMark(directory: string, mark: Mark): void {
  const { O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
  const open = (): number => openSync(markFile(directory, mark), O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
  try {
    closeSync(open());
  } catch (error) {
    if (!isCode(error, "ENOENT")) throw error;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    syncDirectory(dirname(directory));
    closeSync(open());
  }
}

/** Which of these marks name an event that the database does not contain. */
export function findMissingMarks(database: Database, marks: readonly Mark[]): readonly Mark[] {
  if (marks.length === 0) return marks;
  const hashAt = query<{ hash: string }>(database, "select hash from events where pos = ?");
  return marks.filter(({ pos, hash }) => hashAt.get(pos)?.hash !== hash);
}

/** The mark that is due once the present transaction is committed. */
export type DueMark = {
  readonly note: (mark: Mark) => void;
  /** A transaction begins. */
  readonly reset: () => void;
  /** The transaction is committed. */
  readonly write: () => void;
};

export function makeDueMark(marks: Marks): DueMark {
  let due: Mark | undefined;
  return {
    note: (mark) => {
      if (due === undefined || mark.pos > due.pos) due = mark;
    },
    reset: () => {
      due = undefined;
    },
    write: () => {
      if (due !== undefined) marks.put(due);
      due = undefined;
    },
  };
}
