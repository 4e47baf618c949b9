import { findBytes } from "./find-bytes.ts";
import { breakAdapter, type PlainFile, type Range, stripReturns, toPlainBreaks } from "./line-breaks.ts";

export type Replacement = { readonly from: string; readonly to: string; readonly everywhere: boolean };

/** Line numbers count from 1; of many only the first are listed. */
export type ReplaceOutcome =
  | { readonly state: "replaced"; readonly bytes: Buffer; readonly count: number; readonly lines: readonly number[] }
  | { readonly state: "absent" }
  | { readonly state: "several"; readonly count: number; readonly lines: readonly number[] }
  /** The texts are equal, or differ only in line breaks. */
  | { readonly state: "equal" }
  | { readonly state: "too_many" }
  | { readonly state: "too_large" };

export const MOST_PLACES = 1_000_000;
const NAMED_LINES = 20;
const LF = 0x0a;

/** Replaces text and leaves all other bytes alone. Line breaks of either kind match, and the new text gets the file's. */
export function replaceText(file: Buffer, { from, to, everywhere }: Replacement, maxBytes: number): ReplaceOutcome {
  const plain = stripReturns(file);
  const sought = Buffer.from(toPlainBreaks(from));
  const given = Buffer.from(plain.bytes.includes(LF) ? toPlainBreaks(to) : to);
  if (sought.equals(given)) return { state: "equal" };
  const { count, places } = findPlaces(plain.bytes, sought, everywhere);
  if (count === 0) return { state: "absent" };
  if (count > 1 && !everywhere) return { state: "several", count, lines: findLines(plain.bytes, places) };
  if (count > MOST_PLACES) return { state: "too_many" };

  const start = commonStart(sought, given);
  const end = commonEnd(sought.subarray(start), given.subarray(start));
  const ranges = places.map((at) => ({ from: at + start, to: at + sought.length - end }));
  const made = replaceRanges(plain, { file, ranges, bytes: given.subarray(start, given.length - end), maxBytes });
  if (!made) return { state: "too_large" };
  const changed = ranges.map(({ from: at }) => at);
  return { state: "replaced", bytes: made, count, lines: findLines(plain.bytes, changed) };
}

type RangeReplacement = { readonly file: Buffer; readonly ranges: readonly Range[]; readonly bytes: Buffer; readonly maxBytes: number };

/** Undefined if the result would be too large. */
function replaceRanges(plain: PlainFile, { file, ranges, bytes, maxBytes }: RangeReplacement): Buffer | undefined {
  const breaks = bytes.includes(LF) ? breakAdapter(plain) : undefined;
  const pieces: Buffer[] = [];
  let size = 0;
  let done = 0;
  for (const range of ranges) {
    const kept = file.subarray(done, plain.toFile(range.from));
    const made = breaks?.(bytes, range) ?? bytes;
    size += kept.length + made.length;
    if (size > maxBytes) return undefined;
    pieces.push(kept, made);
    done = plain.toFile(range.to);
  }
  size += file.length - done;
  return size > maxBytes ? undefined : Buffer.concat([...pieces, file.subarray(done)], size);
}

/** With `everywhere` matches do not overlap; otherwise all are counted and the first are kept. */
function findPlaces(bytes: Buffer, sought: Buffer, everywhere: boolean): { readonly count: number; readonly places: readonly number[] } {
  const places: number[] = [];
  let count = 0;
  const found = (at: number): boolean => {
    count++;
    if (everywhere || count <= NAMED_LINES) places.push(at);
    return !everywhere || count <= MOST_PLACES;
  };
  findBytes(bytes, sought, { apart: everywhere, found });
  return { count, places };
}

function findLines(bytes: Buffer, places: readonly number[]): readonly number[] {
  let line = 1;
  let next = bytes.indexOf(LF);
  return places.slice(0, NAMED_LINES).map((place) => {
    for (; next !== -1 && next < place; next = bytes.indexOf(LF, next + 1)) line++;
    return line;
  });
}

function commonStart(left: Buffer, right: Buffer): number {
  const most = Math.min(left.length, right.length);
  let length = 0;
  while (length < most && left[length] === right[length]) length++;
  return length;
}

function commonEnd(left: Buffer, right: Buffer): number {
  const most = Math.min(left.length, right.length);
  let length = 0;
  while (length < most && left[left.length - 1 - length] === right[right.length - 1 - length]) length++;
  return length;
}
