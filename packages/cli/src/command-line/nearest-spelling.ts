import { editDistance } from "@assent/core/text";

export function nearestSpelling(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const limit = Math.max(2, Math.floor(candidate.length / 3));
    const distance = editDistance(word.toLowerCase(), candidate, limit);
    if (distance > limit || distance >= least) continue;
    best = candidate;
    least = distance;
  }
  return best;
}
