/** How places are counted. */
export type FindOptions = {
  /** No two places overlap; else every place counts. */
  readonly apart: boolean;
  /** Told of every place, in order; false ends the search. */
  readonly found: (at: number) => boolean;
};

/** Finds every place of some bytes within others, by the algorithm of Knuth, Morris and Pratt: linear, whatever both of them hold. */
export function findBytes(bytes: Uint8Array, sought: Uint8Array, { apart, found }: FindOptions): void {
  if (sought.length === 0 || sought.length > bytes.length) return;
  const borders = makeBorders(sought);
  let matched = 0;
  for (let at = 0; at < bytes.length; at++) {
    matched = extendMatch({ sought, borders }, matched, bytes[at]);
    if (matched < sought.length) continue;
    if (!found(at + 1 - matched)) return;
    matched = apart ? 0 : (borders[matched - 1] ?? 0);
  }
}

/** Some bytes, and per length of a beginning of them how long an end of it is that is also its beginning. */
type SearchTable = { readonly sought: Uint8Array; readonly borders: Int32Array };

/** How many of the sought bytes are matched with one byte more. */
function extendMatch({ sought, borders }: SearchTable, before: number, byte: number | undefined): number {
  let matched = before;
  while (matched > 0 && byte !== sought[matched]) matched = borders[matched - 1] ?? 0;
  return byte === sought[matched] ? matched + 1 : matched;
}

function makeBorders(sought: Uint8Array): Int32Array {
  const borders = new Int32Array(sought.length);
  for (let at = 1; at < sought.length; at++) borders[at] = extendMatch({ sought, borders }, borders[at - 1] ?? 0, sought[at]);
  return borders;
}
