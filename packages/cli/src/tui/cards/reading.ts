import type { FileDiff } from "@assent/core/parts";
import { type ChoiceStop, type ChosenParts, choiceStops, chooseAll, isLeftOut, toggleChoice } from "../diff/choice.ts";
import { isBefore, type Position, type ReadProgress, START } from "../draw/pages.ts";
import type { CardPages } from "./body.ts";

/** How far a person has read the files on a card, and what they chose. */
export type Reading = ReadProgress & {
  /** All files are folded, as a list. */
  readonly isList: boolean;
  /** Files that the person passed over. They are folded. */
  readonly skipped: ReadonlySet<number>;
  /** Every folded file: in the list, skipped, or left out of the choice. */
  readonly folded: ReadonlySet<number>;
  /** Files that were shown to their end before they were folded. */
  readonly read: ReadonlySet<number>;
  /** What is chosen, while choosing. */
  readonly chosen: ChosenParts | undefined;
  readonly cursor: ChoiceStop;
};

export const UNREAD: Reading = {
  ...{ at: START, seen: START, seenAt: 0, isList: false },
  ...{ skipped: new Set(), folded: new Set(), read: new Set(), chosen: undefined, cursor: { file: 0 } },
};

export type ReadText = { readonly files: readonly FileDiff[]; readonly pages: (reading: Reading) => CardPages };

type Change = Partial<Pick<Reading, "isList" | "skipped" | "chosen" | "cursor">>;

/** Folds and unfolds files without losing what was read. A file that was not read to its end must be read when it is unfolded. */
export function refold(text: ReadText, reading: Reading, change: Change): Reading {
  const { files, pages } = text;
  const changed = { ...reading, ...change };
  const { isList, skipped, chosen } = changed;
  const isFolded = (file: number): boolean =>
    isList || skipped.has(file) || (files.length > 1 && chosen !== undefined && isLeftOut(files, chosen, file));
  const folded = new Set([...files.keys()].filter(isFolded));
  const now = { ...changed, folded };
  const [from, to] = [pages(reading), pages(now)];
  const isRead = (file: number): boolean => !reading.folded.has(file) && !isBefore(reading.seen, fileEnd(from, file));
  const read = new Set([...reading.read, ...[...files.keys()].filter(isRead)]);
  const unread = [...reading.folded].find((file) => !folded.has(file) && !read.has(file));
  const seen = movePosition(reading.seen, from, to);
  const limit = unread === undefined ? undefined : { piece: to.starts[unread] ?? 0, row: 0 };
  return { ...now, read, seen: limit && isBefore(limit, seen) ? limit : seen, at: movePosition(reading.at, from, to) };
}

function fileEnd({ starts }: CardPages, file: number): Position {
  return { piece: starts[file + 1] ?? 0, row: 0 };
}

/** The same place in another layout; in a file that is folded now, the end of the file. */
function movePosition({ piece, row }: Position, from: CardPages, to: CardPages): Position {
  const file = from.starts.findLastIndex((start) => start <= piece);
  const [old, now, next] = [from.starts[file], to.starts[file], to.starts[file + 1]];
  if (old === undefined || now === undefined) return { piece, row };
  const moved = now + piece - old;
  return next !== undefined && moved > next ? { piece: next, row: 0 } : { piece: moved, row };
}

/** The file at the top of the page, or the one at the cursor. */
export function fileInFront({ files, pages }: ReadText, reading: Reading): number {
  if (reading.chosen) return reading.cursor.file;
  const file = pages(reading).starts.findLastIndex((start) => start <= reading.at.piece);
  return Math.min(Math.max(0, file), files.length - 1);
}

/** Goes to the next file. One that was not read to its end is skipped, which folds it. */
export function nextFile(text: ReadText, reading: Reading): Reading {
  const file = fileInFront(text, reading);
  const pages = text.pages(reading);
  const isRead = !isBefore(reading.seen, fileEnd(pages, file));
  if (!isRead && !reading.folded.has(file)) {
    const skipped = refold(text, reading, { skipped: new Set([...reading.skipped, file]) });
    return { ...skipped, at: startOf(text.pages(skipped), file) };
  }
  return file + 1 < text.files.length ? { ...reading, at: startOf(pages, file + 1) } : reading;
}

/** Goes to the beginning of this file or to the one before, and opens it again if it was skipped. */
export function previousFile(text: ReadText, reading: Reading): Reading {
  const file = fileInFront(text, reading);
  const start = startOf(text.pages(reading), file);
  const isInside = isBefore(start, reading.at) || reading.skipped.has(file);
  const target = isInside ? file : Math.max(0, file - 1);
  const skipped = new Set([...reading.skipped].filter((each) => each !== target));
  const opened = refold(text, reading, { skipped });
  return { ...opened, at: startOf(text.pages(opened), target) };
}

function startOf({ starts }: CardPages, file: number): Position {
  return { piece: starts[file] ?? 0, row: 0 };
}

/** Starts with all files chosen. If only `full` shows all of each file, they must be read again, but not what is before them. */
export function startChoosing(text: ReadText, full: ReadText | undefined, reading: Reading): Reading {
  const { files } = full ?? text;
  const chosen = chooseAll(files);
  const [cursor = { file: 0 }] = choiceStops(files, chosen);
  if (!full) return refold(text, reading, { isList: false, chosen, cursor });
  const now = { ...UNREAD, seenAt: reading.seenAt, chosen, cursor };
  const seen = { piece: Math.min(reading.seen.piece, startOf(full.pages(now), 0).piece - 1), row: 0 }; // the count of the files may be new
  return { ...now, seen, at: isBefore(seen, reading.at) ? seen : reading.at };
}

export function moveCursor({ files }: ReadText, reading: Reading, step: 1 | -1): ChoiceStop {
  const stops = choiceStops(files, reading.chosen ?? new Set());
  const at = stops.findIndex(({ file, hunk }) => file === reading.cursor.file && hunk === reading.cursor.hunk);
  return stops[(at + step + stops.length) % stops.length] ?? reading.cursor;
}

/** Includes or excludes what is at the cursor. In a file that is left out, the cursor is at the file. */
export function toggleCursor(text: ReadText, reading: Reading): Reading {
  const { files } = text;
  const { file } = reading.cursor;
  const chosen = toggleChoice(files, reading.chosen ?? new Set(), reading.cursor);
  const isFolded = files.length > 1 && isLeftOut(files, chosen, file);
  return refold(text, reading, { chosen, ...(isFolded && { cursor: { file } }) });
}
