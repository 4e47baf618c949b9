/** A run of lines that both texts have, or that one of them has. */
export type Change = { readonly kind: "same" | "removed" | "added"; readonly lines: readonly string[] };

/** Beyond this many differences the middle of the texts is taken as replaced whole: finding the least change would cost their product. */
const MOST_DIFFERENCES = 1000;

/** The least changes that make `after` of `before`, by Myers' algorithm on lines with their line breaks. */
export function lineChanges(before: string, after: string): readonly Change[] {
  const left = splitLines(before);
  const right = splitLines(after);
  const start = commonStart(left, right);
  const end = commonEnd(left.slice(start), right.slice(start));
  const middle = changesBetween(left.slice(start, left.length - end), right.slice(start, right.length - end));
  return joined([{ kind: "same", lines: left.slice(0, start) }, ...middle, { kind: "same", lines: left.slice(left.length - end) }]);
}

function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function commonStart(left: readonly string[], right: readonly string[]): number {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  return start;
}

function commonEnd(left: readonly string[], right: readonly string[]): number {
  let end = 0;
  while (end < left.length && end < right.length && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  return end;
}

function changesBetween(left: readonly string[], right: readonly string[]): readonly Change[] {
  const trace = left.length === 0 || right.length === 0 ? undefined : furthestPaths(left, right);
  if (trace) return walkBack(trace, left, right);
  return [
    { kind: "removed", lines: left },
    { kind: "added", lines: right },
  ];
}

/** How far each diagonal was reached with fewer differences, per number of differences; index `diagonal + differences + 1`. Undefined: there are too many. */
function furthestPaths(left: readonly string[], right: readonly string[]): readonly Int32Array[] | undefined {
  const most = Math.min(MOST_DIFFERENCES, left.length + right.length);
  const reach = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let differences = 0; differences <= most; differences++) {
    const before = reach.slice(most - differences, most + differences + 3);
    trace.push(before);
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      const { x } = entrance(before, differences, diagonal);
      const end = slide(left, right, { x, diagonal });
      reach[diagonal + most + 1] = end;
      if (end >= left.length && end - diagonal >= right.length) return trace;
    }
  }
  return undefined;
}

/** Where a path enters a diagonal: from the neighbour that was further, down (a line added) or across (a line removed). */
function entrance(before: Int32Array, differences: number, diagonal: number): { readonly x: number; readonly added: boolean } {
  const across = before[diagonal + differences] ?? 0;
  const down = before[diagonal + differences + 2] ?? 0;
  const added = diagonal === -differences || (diagonal !== differences && across < down);
  return { x: added ? down : across + 1, added };
}

function slide(left: readonly string[], right: readonly string[], { x, diagonal }: { x: number; diagonal: number }): number {
  let at = x;
  while (at < left.length && at - diagonal < right.length && left[at] === right[at - diagonal]) at++;
  return at;
}

function walkBack(trace: readonly Int32Array[], left: readonly string[], right: readonly string[]): readonly Change[] {
  const changes: Change[] = [];
  let x = left.length;
  let y = right.length;
  for (let differences = trace.length - 1; differences > 0; differences--) {
    const diagonal = x - y;
    const { x: entered, added } = entrance(trace[differences] ?? new Int32Array(), differences, diagonal);
    changes.push({ kind: "same", lines: left.slice(entered, x) });
    x = added ? entered : entered - 1;
    y = entered - diagonal - (added ? 1 : 0);
    changes.push(added ? { kind: "added", lines: right.slice(y, y + 1) } : { kind: "removed", lines: left.slice(x, x + 1) });
  }
  changes.push({ kind: "same", lines: left.slice(0, x) });
  return changes.reverse();
}

/** Neighbours of one kind made one; within a change, what goes stands before what comes. */
function joined(changes: readonly Change[]): readonly Change[] {
  const done: Change[] = [];
  let removed: readonly string[] = [];
  let added: readonly string[] = [];
  for (const { kind, lines } of [...changes, { kind: "same", lines: END } as const]) {
    if (kind === "removed") removed = removed.concat(lines);
    else if (kind === "added") added = added.concat(lines);
    else if (lines.length > 0) {
      done.push({ kind: "removed", lines: removed }, { kind: "added", lines: added }, { kind, lines });
      removed = [];
      added = [];
    }
  }
  return done.slice(0, -1).filter(({ lines }) => lines.length > 0);
}

/** Stands after the last line, so that every change has something behind it. */
const END: readonly string[] = [""];
