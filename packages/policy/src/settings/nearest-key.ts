import { editDistance } from "@assent/core";

/** Finds the most similar known key, preferring the same last name; undefined if none is close. */
export function nearestKey(unknown: string, known: readonly string[]): string | undefined {
  const last = lastName(unknown);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const key of known) {
    const distance = Math.min(countChanges(unknown, key), countChanges(last, lastName(key)) + 0.5);
    if (distance >= least) continue;
    best = key;
    least = distance;
  }
  return best;
}

function lastName(key: string): string {
  return key.slice(key.lastIndexOf(".") + 1);
}

/** Infinite if the keys are not similar. Two exchanged letters are two changes. */
function countChanges(from: string, to: string): number {
  const { length } = lastName(to);
  const limit = Math.max(length > 3 ? 2 : 1, Math.floor(length / 3));
  const distance = editDistance(from.toLowerCase(), to.toLowerCase(), limit);
  return distance > limit ? Number.POSITIVE_INFINITY : distance;
}
