import { sequenceChanges } from "@assent/core/parts";

export type Piece = { readonly text: string; readonly changed: boolean };

const WORD = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;
const LONGEST = 2_000;

/** Compares two lines word by word. Undefined if they differ too much. */
export function wordChanges(
  before: string,
  after: string,
): { readonly before: readonly Piece[]; readonly after: readonly Piece[] } | undefined {
  if (before.length > LONGEST || after.length > LONGEST) return undefined;
  const [left, right] = [before.match(WORD) ?? [], after.match(WORD) ?? []];
  const numbers = new Map<string, number>();
  const numbered = (words: readonly string[]): Int32Array =>
    Int32Array.from(words, (word) => {
      const known = numbers.get(word) ?? numbers.size;
      numbers.set(word, known);
      return known;
    });
  const changes = sequenceChanges(numbered(left), numbered(right));
  const old = pieces(
    left,
    changes.map(({ from, to }) => [from, to] as const),
  );
  const made = pieces(
    right,
    changes.map(({ newFrom, newTo }) => [newFrom, newTo] as const),
  );
  return isAlike(old, before) || isAlike(made, after) ? { before: old, after: made } : undefined;
}

function isAlike(found: readonly Piece[], line: string): boolean {
  const same = found.reduce((sum, { text, changed }) => sum + (changed ? 0 : text.trim().length), 0);
  return same * 3 >= line.trim().length;
}

function pieces(words: readonly string[], ranges: readonly (readonly [from: number, to: number])[]): readonly Piece[] {
  const found: Piece[] = [];
  let at = 0;
  const add = (to: number, changed: boolean): void => {
    if (to > at) found.push({ text: words.slice(at, to).join(""), changed });
    at = Math.max(at, to);
  };
  for (const [from, to] of ranges) {
    add(from, false);
    add(to, true);
  }
  add(words.length, false);
  return found;
}
