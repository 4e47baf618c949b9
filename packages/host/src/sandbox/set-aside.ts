import { randomUUID } from "node:crypto";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { errorCode } from "@assent/core";
import { processStart } from "../processes/table.ts";

/** Moves files that a confined command must not create to a new directory below `directory`. Returns where each is now. */
export function setAside(paths: readonly string[], directory: string): readonly string[] {
  if (paths.length === 0) return [];
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const place = mkdtempSync(join(directory, "moved-"));
  return paths.map((path, index) => {
    const to = join(place, `${index}-${basename(path)}`);
    try {
      renameSync(path, to);
    } catch (error) {
      if (errorCode(error) !== "EXDEV") throw error;
      cpSync(path, to, { recursive: true, verbatimSymlinks: true });
      rmSync(path, { recursive: true, force: true });
    }
    return to;
  });
}

/** A note on disk about a running command, for the case that this process is killed before the command's end. */
export type RunningNote = { readonly remove: () => void };

type NoteText = { readonly pid: number; readonly start: string | undefined; readonly about: unknown };

const BEAT_MS = 1000;
const NOTE = ".running.json";

/** Writes a note. Its time is renewed while this process lives. */
export function noteRunning(directory: string, about: unknown): RunningNote {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, `${randomUUID()}${NOTE}`);
  const note: NoteText = { pid: process.pid, start: processStart(process.pid), about };
  writeFileSync(`${file}.new`, JSON.stringify(note), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  const beat = setInterval(() => {
    try {
      utimesSync(file, new Date(), new Date());
    } catch {
      clearInterval(beat); // removed with its directory
    }
  }, BEAT_MS).unref();
  return {
    remove: () => {
      clearInterval(beat);
      rmSync(file, { force: true });
    },
  };
}

/** A note whose process was killed. */
export type AbandonedNote = {
  readonly about: unknown;
  /** True for a file that was created before the process was killed, or if the system does not know. */
  readonly isOlder: (path: string) => boolean;
  readonly remove: () => void;
};

/** Notes of processes that are gone. */
export function listAbandonedNotes(directory: string): readonly AbandonedNote[] {
  return notesIn(directory).flatMap((file) => {
    const note = readNote(file);
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (!stats || !note || (note.start !== undefined && processStart(note.pid) === note.start)) return [];
    const until = stats.mtimeMs + 2 * BEAT_MS; // the last beat, and what the command did until the next one
    return [
      {
        about: note.about,
        isOlder: (path: string) => (lstatSync(path, { throwIfNoEntry: false })?.birthtimeMs ?? 0) <= until,
        remove: () => rmSync(file, { force: true }),
      },
    ];
  });
}

function notesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(NOTE))
      .map((name) => join(directory, name));
  } catch {
    return []; // no command ran yet
  }
}

function readNote(file: string): NoteText | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as NoteText; // written above
  } catch {
    return undefined; // another process settled it
  }
}
