import { closeSync, constants, mkdirSync, openSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Database, query } from "../database/database.ts";
import { isCode, syncDirectory } from "./state-directory.ts";

/** An event that was committed before its mark was written. */
export type Mark = { readonly pos: number; readonly hash: string };

/**
 * Empty files named `POS-HASH`, written after a commit and before its effect. If the database lacks a marked event, it was restored or
 * cut. Names are unique, so copying an old directory over this one keeps the newest mark.
 */
export type Marks = {
  /** Call it before reading the database, because marked events were committed earlier. */
  readonly list: () => readonly Mark[];
  /** Durable when it returns; removes older marks. */
  readonly put: (mark: Mark) => void;
  readonly remove: (marks: readonly Mark[]) => void;
};

const NAME = /^(\d{1,16})-([0-9a-f]{64})$/;

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

export function findMissingMarks(database: Database, marks: readonly Mark[]): readonly Mark[] {
  if (marks.length === 0) return marks;
  const hashAt = query<{ hash: string }>(database, "select hash from events where pos = ?");
  return marks.filter(({ pos, hash }) => hashAt.get(pos)?.hash !== hash);
}

/** Written after the current transaction commits. */
export type DueMark = {
  readonly note: (mark: Mark) => void;
  readonly reset: () => void;
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
