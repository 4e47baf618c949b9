import type { Ids } from "../src/ports.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const LENGTH = 20;

/** Creates ids that count up; use another `first` to keep two generators apart. */
export function countingIds(first = 0): Ids {
  let count = first;
  return {
    next: (prefix) => {
      const id = encode(count);
      count += 1;
      return `${prefix}${id}`;
    },
  };
}

function encode(count: number): string {
  let text = "";
  for (let rest = count; rest > 0; rest = Math.floor(rest / ALPHABET.length)) text = `${ALPHABET[rest % ALPHABET.length]}${text}`;
  return text.padStart(LENGTH, "a");
}
