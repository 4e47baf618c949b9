import { sequenceChanges } from "./sequence-changes.ts";

/** Removed lines and the lines that replace them, each with its line break. */
export type LineChange = {
  /** Number of the first removed line, or of the line before which lines are inserted. */
  readonly line: number;
  /** The same in the new text. */
  readonly newLine: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
  /** Offsets of the removed lines in the old text. */
  readonly start: number;
  readonly end: number;
};

/** The changes from `before` to `after` in order, as few as a bounded search finds. No two are adjacent. */
export function lineChanges(before: string, after: string): readonly LineChange[] {
  const start = commonStart(before, after);
  const [end, newEnd] = commonEnd(before, after, start);
  if (start === end && start === newEnd) return [];
  const left = splitLines(before.slice(start, end));
  const right = splitLines(after.slice(start, newEnd));
  const [items, newItems] = numbered(left, right);
  const first = linesIn(before, start) + 1;
  let line = 0;
  let offset = start;
  return sequenceChanges(items, newItems).map(({ from, to, newFrom, newTo }) => {
    for (; line < from; line++) offset += left[line]?.length ?? 0;
    const at = offset;
    for (; line < to; line++) offset += left[line]?.length ?? 0;
    return {
      line: first + from,
      newLine: first + newFrom,
      removed: left.slice(from, to),
      added: right.slice(newFrom, newTo),
      start: at,
      end: offset,
    };
  });
}

export function splitLines(text: string): readonly string[] {
  const lines: string[] = [];
  let from = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
    lines.push(text.slice(from, at + 1));
    from = at + 1;
  }
  if (from < text.length) lines.push(text.slice(from));
  return lines;
}

function commonStart(before: string, after: string): number {
  const most = Math.min(before.length, after.length);
  let at = 0;
  while (at < most && before.charCodeAt(at) === after.charCodeAt(at)) at++;
  if (at === before.length && at === after.length) return at;
  return at === 0 ? 0 : before.lastIndexOf("\n", at - 1) + 1;
}

function commonEnd(before: string, after: string, start: number): readonly [end: number, newEnd: number] {
  const most = Math.min(before.length, after.length) - start;
  let length = 0;
  while (length < most && before.charCodeAt(before.length - 1 - length) === after.charCodeAt(after.length - 1 - length)) length++;
  const end = before.length - length;
  const newEnd = after.length - length;
  if (isLineStart(before, end) && isLineStart(after, newEnd)) return [end, newEnd];
  const next = before.indexOf("\n", end) + 1;
  return next === 0 ? [before.length, after.length] : [next, next + after.length - before.length];
}

function isLineStart(text: string, at: number): boolean {
  return at === 0 || text[at - 1] === "\n";
}

function numbered(...texts: readonly (readonly string[])[]): readonly [Int32Array, Int32Array] {
  const numbers = new Map<string, number>();
  const number = (line: string): number => {
    const known = numbers.get(line) ?? numbers.size;
    numbers.set(line, known);
    return known;
  };
  const [left = [], right = []] = texts;
  return [Int32Array.from(left, number), Int32Array.from(right, number)];
}

function linesIn(text: string, end: number): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** One block per change of a file: its place, the removed and the added lines. The first block names the file. */
export function makeChangeBlocks(path: string, changes: readonly LineChange[]): readonly string[] {
  return changes.map(({ line, removed, added }, index) =>
    [
      ...(index === 0 ? [path] : []),
      `  ${line}:${findColumn(removed[0], added[0])}`,
      ...signLines("-", removed),
      ...signLines("+", added),
    ].join("\n"),
  );
}

function findColumn(removed: string | undefined, added: string | undefined): number {
  if (removed === undefined || added === undefined) return 1;
  let at = 0;
  while (at < removed.length && removed[at] === added[at]) at++;
  return at + 1;
}

function signLines(sign: string, lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => (line.endsWith("\n") ? [`  ${sign} ${line.slice(0, -1)}`] : [`  ${sign} ${line}`, NO_END]));
}

const NO_END = "  \\ No newline at end of file";
