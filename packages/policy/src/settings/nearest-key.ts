import { editDistance } from "@assent/core";

/** The known key that an unknown one most likely meant: a key of the same last name elsewhere, else the one with the fewest changed characters. */
export function nearestKey(unknown: string, known: readonly string[]): string {
  const last = lastName(unknown);
  let best = "";
  let least = Number.POSITIVE_INFINITY;
  for (const key of known) {
    const distance = Math.min(countChanges(unknown, key, least), countChanges(last, lastName(key), least) + 0.5);
    if (distance >= least) continue;
    best = key;
    least = distance;
  }
  return best;
}

/** A key longer than any known one is not worth comparing in full. */
const MAX_COMPARED = 60;

function lastName(key: string): string {
  return key.slice(key.lastIndexOf(".") + 1);
}

function countChanges(from: string, to: string, limit: number): number {
  return editDistance(from.slice(0, MAX_COMPARED).toLowerCase(), to.toLowerCase(), limit);
}
