import { editDistance } from "@assent/core/text";

/** Finds the candidate that was probably meant by a misspelled or incomplete word. */
export function nearestSpelling(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const limit = Math.max(2, Math.floor(candidate.length / 3));
    const distance = editDistance(word.toLowerCase(), candidate, limit);
    const isShort = candidate.length < 5 && distance > 1 && candidate[0] !== word[0]; // such as `tcsh` and `bash`
    if (isShort || distance > limit || distance >= least) continue;
    best = candidate;
    least = distance;
  }
  return best ?? candidates.find((candidate) => word.length > 2 && candidate.startsWith(word));
}
