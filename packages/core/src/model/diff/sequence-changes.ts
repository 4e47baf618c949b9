import { firstIndex } from "./first-index.ts";

/** Items `newFrom` to `newTo` of the new sequence replace items `from` to `to` of the old one. */
export type RangeChange = { readonly from: number; readonly to: number; readonly newFrom: number; readonly newTo: number };

/** Beyond this many differences a minimal diff takes too long: its cost is quadratic. */
const MOST_DIFFERENCES = 1000;
/** The same limit between two anchors. */
const MOST_IN_GAP = 200;

/** A minimal diff by Myers' algorithm. If there are too many differences, unique items serve as anchors, which bounds the cost. */
export function sequenceChanges(left: Int32Array, right: Int32Array): readonly RangeChange[] {
  const whole = { from: 0, to: left.length, newFrom: 0, newTo: right.length };
  const least = leastChanges({ left, right }, whole, MOST_DIFFERENCES);
  if (least) return joinNeighbors(least);
  const changes: RangeChange[] = [];
  let from = 0;
  let newFrom = 0;
  for (const [at, newAt] of [...findAnchors(left, right), [left.length, right.length] as const]) {
    const gap = trimCommon({ left, right }, { from, to: at, newFrom, newTo: newAt });
    changes.push(...(leastChanges({ left, right }, gap, MOST_IN_GAP) ?? [gap]));
    from = at;
    newFrom = newAt;
  }
  return joinNeighbors(changes);
}

type Sequences = { readonly left: Int32Array; readonly right: Int32Array };

function trimCommon({ left, right }: Sequences, range: RangeChange): RangeChange {
  let { from, to, newFrom, newTo } = range;
  while (from < to && newFrom < newTo && left[from] === right[newFrom]) {
    from++;
    newFrom++;
  }
  while (to > from && newTo > newFrom && left[to - 1] === right[newTo - 1]) {
    to--;
    newTo--;
  }
  return { from, to, newFrom, newTo };
}

/** Undefined if there are too many differences. */
function leastChanges({ left, right }: Sequences, range: RangeChange, most: number): readonly RangeChange[] | undefined {
  const { from, to, newFrom, newTo } = range;
  if (from === to || newFrom === newTo) return [range];
  const inner = { left: left.subarray(from, to), right: right.subarray(newFrom, newTo) };
  const trace = furthestPaths(inner, most);
  return trace && walkBack(trace, range);
}

/** The furthest position on each diagonal per number of differences; index `diagonal + differences + 1`. Undefined if there are too many. */
function furthestPaths({ left, right }: Sequences, limit: number): readonly Int32Array[] | undefined {
  const most = Math.min(limit, left.length + right.length);
  const reach = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let differences = 0; differences <= most; differences++) {
    const before = reach.slice(most - differences, most + differences + 3);
    trace.push(before);
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      let at = entrance(before, differences, diagonal).x;
      while (at < left.length && at - diagonal < right.length && left[at] === right[at - diagonal]) at++;
      reach[diagonal + most + 1] = at;
      if (at >= left.length && at - diagonal >= right.length) return trace;
    }
  }
  return undefined;
}

/** How a path enters a diagonal: down (item added) or across (item removed). */
function entrance(before: Int32Array, differences: number, diagonal: number): { readonly x: number; readonly added: boolean } {
  const across = before[diagonal + differences] ?? 0;
  const down = before[diagonal + differences + 2] ?? 0;
  const added = diagonal === -differences || (diagonal !== differences && across < down);
  return { x: added ? down : across + 1, added };
}

function walkBack(trace: readonly Int32Array[], { from, to, newFrom, newTo }: RangeChange): readonly RangeChange[] {
  const changes: RangeChange[] = [];
  let x = to - from;
  let y = newTo - newFrom;
  for (let differences = trace.length - 1; differences > 0; differences--) {
    const diagonal = x - y;
    const { x: entered, added } = entrance(trace[differences] ?? NOTHING, differences, diagonal);
    x = added ? entered : entered - 1;
    y = entered - diagonal - (added ? 1 : 0);
    changes.push({ from: from + x, to: from + x + (added ? 0 : 1), newFrom: newFrom + y, newTo: newFrom + y + (added ? 1 : 0) });
  }
  return changes.reverse();
}

const NOTHING = new Int32Array();

function joinNeighbors(changes: readonly RangeChange[]): readonly RangeChange[] {
  const done: RangeChange[] = [];
  for (const change of changes) {
    const last = done.at(-1);
    if (change.from === change.to && change.newFrom === change.newTo) continue;
    if (last && last.to === change.from && last.newTo === change.newFrom)
      done[done.length - 1] = { ...last, to: change.to, newTo: change.newTo };
    else done.push(change);
  }
  return done;
}

type Pair = readonly [at: number, newAt: number];

/** Items that occur once on each side, in an order that both sides share. */
function findAnchors(left: Int32Array, right: Int32Array): readonly Pair[] {
  const newPlaces = findSingles(right);
  const places = findSingles(left);
  const pairs: Pair[] = [];
  for (let at = 0; at < left.length; at++) {
    const item = left[at] ?? 0;
    const newAt = newPlaces[item] ?? ABSENT;
    if (places[item] === at && newAt >= 0) pairs.push([at, newAt]);
  }
  return longestRise(pairs);
}

const ABSENT = -1;
const REPEATED = -2;

/** The position of each item that occurs exactly once. */
function findSingles(items: Int32Array): Int32Array {
  const places = new Int32Array(items.reduce((most, item) => Math.max(most, item + 1), 0)).fill(ABSENT);
  for (let at = 0; at < items.length; at++) {
    const item = items[at] ?? 0;
    places[item] = places[item] === ABSENT ? at : REPEATED;
  }
  return places;
}

/** The longest increasing subsequence of the new positions. */
function longestRise(pairs: readonly Pair[]): readonly Pair[] {
  const tops: number[] = [];
  const before = new Int32Array(pairs.length);
  for (const [index, [, newAt]] of pairs.entries()) {
    const low = firstIndex(tops.length, (stack) => (pairs[tops[stack] ?? 0]?.[1] ?? 0) >= newAt);
    before[index] = tops[low - 1] ?? -1;
    tops[low] = index;
  }
  const rise: Pair[] = [];
  for (let index = tops.at(-1) ?? -1; index >= 0; index = before[index] ?? -1) {
    const pair = pairs[index];
    if (pair) rise.push(pair);
  }
  return rise.reverse();
}
