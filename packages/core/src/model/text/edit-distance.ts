/** The edit distance of two texts, or `limit + 1` as soon as it exceeds `limit`. */
export function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) > limit) return limit + 1;
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    row = nextRow(row, from.charCodeAt(i - 1), to);
    if (Math.min(...row) > limit) return limit + 1;
  }
  return Math.min(row[to.length] ?? 0, limit + 1);
}

function nextRow(above: readonly number[], unit: number, to: string): number[] {
  let left = (above[0] ?? 0) + 1;
  const row = [left];
  for (let column = 1; column <= to.length; column++) {
    const diagonal = (above[column - 1] ?? 0) + (unit === to.charCodeAt(column - 1) ? 0 : 1);
    left = Math.min(diagonal, left + 1, (above[column] ?? 0) + 1);
    row.push(left);
  }
  return row;
}
