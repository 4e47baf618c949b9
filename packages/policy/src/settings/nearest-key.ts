import { editDistance } from "@assent/core";

/** Finds the most similar known key, preferring the same last name. */
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

const MAX_COMPARED = 60;

function lastName(key: string): string {
  return key.slice(key.lastIndexOf(".") + 1);
}

function countChanges(from: string, to: string, limit: number): number {
  return editDistance(from.slice(0, MAX_COMPARED).toLowerCase(), to.toLowerCase(), limit);
}
