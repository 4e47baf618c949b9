/** The known key that an unknown one most likely meant: a key of the same last name elsewhere, else the one with the fewest changed characters. */
export function nearestKey(unknown: string, known: readonly string[]): string {
  const last = lastName(unknown);
  let best = "";
  let least = Number.POSITIVE_INFINITY;
  for (const key of known) {
    const distance = Math.min(changes(unknown, key), changes(last, lastName(key)) + 0.5);
    if (distance >= least) continue;
    best = key;
    least = distance;
  }
  return best;
}

/** A key longer than any known one is not worth comparing in full. */
const LONGEST = 60;

function lastName(key: string): string {
  return key.slice(key.lastIndexOf(".") + 1);
}

function changes(from: string, to: string): number {
  const short = from.slice(0, LONGEST).toLowerCase();
  const goal = to.toLowerCase();
  let row = Array.from({ length: goal.length + 1 }, (_, column) => column);
  for (let i = 1; i <= short.length; i++) {
    const next = [i];
    for (let j = 1; j <= goal.length; j++) {
      const changed = (row[j - 1] ?? 0) + (short[i - 1] === goal[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[goal.length] ?? 0;
}
