import { messageOf } from "@assent/core";

/** A compiled matcher (undefined: matches everything), or its error. */
export type Matcher = { readonly matches: ((value: string) => boolean) | undefined } | { readonly problem: string };

/** Compiles a regular expression for a whole value. Empty and `*` match everything. */
export function compileMatcher(text: string): Matcher {
  if (matchesEverything(text)) return { matches: undefined };
  try {
    new RegExp(text); // alone first: `a)|(b` is valid only inside our parentheses
    const whole = new RegExp(`^(?:${text})$`, "s");
    return { matches: (value) => whole.test(value) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** True if the matcher excludes nothing. */
export function matchesEverything(text: string): boolean {
  return text === "" || text === "*";
}
