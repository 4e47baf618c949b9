/** A place in a text. Both numbers count from 1, columns in UTF-16 units. */
export type TextPlace = { readonly line: number; readonly column: number };

/** Returns a function that converts offsets to lines and columns. */
export function placeFinder(text: string): (offset: number) => TextPlace {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    for (let high = starts.length - 1; low < high; ) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
