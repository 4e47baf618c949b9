export type FindOptions = {
  /** True: matches do not overlap. False: every match counts. */
  readonly apart: boolean;
  /** Called for every match in order; false stops the search. */
  readonly found: (at: number) => boolean;
};

/** Finds bytes within others with the algorithm of Knuth, Morris and Pratt, in linear time for any input. */
export function findBytes(bytes: Uint8Array, sought: Uint8Array, { apart, found }: FindOptions): void {
  if (sought.length === 0 || sought.length > bytes.length) return;
  const borders = makeBorders(sought);
  let matched = 0;
  for (let at = 0; at < bytes.length; at++) {
    matched = extendMatch(sought, borders, matched, bytes[at]);
    if (matched < sought.length) continue;
    if (!found(at + 1 - matched)) return;
    matched = apart ? 0 : (borders[matched - 1] ?? 0);
  }
}

/** The length of the match after one more byte. */
function extendMatch(sought: Uint8Array, borders: Int32Array, before: number, byte: number | undefined): number {
  let matched = before;
  while (matched > 0 && byte !== sought[matched]) matched = borders[matched - 1] ?? 0;
  return byte === sought[matched] ? matched + 1 : matched;
}

function makeBorders(sought: Uint8Array): Int32Array {
  const borders = new Int32Array(sought.length);
  for (let at = 1; at < sought.length; at++) borders[at] = extendMatch(sought, borders, borders[at - 1] ?? 0, sought[at]);
  return borders;
}
