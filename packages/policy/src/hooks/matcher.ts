import { messageOf } from "@assent/core";

/** A compiled matcher (undefined: it matches everything), or what is wrong with its text. */
export type Matcher = { readonly matches: ((value: string) => boolean) | undefined } | { readonly problem: string };

/** Compiles a matcher: a regular expression for the whole of a value. Nothing, `""` and `"*"` stand for all. */
export function compileMatcher(text: string): Matcher {
  if (matchesEverything(text)) return { matches: undefined };
  try {
    new RegExp(text); // by itself first: `a)|(b` becomes a whole expression only inside our brackets
    const whole = new RegExp(`^(?:${text})$`, "s");
    return { matches: (value) => whole.test(value) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** Whether a matcher leaves nothing out. */
export function matchesEverything(text: string): boolean {
  return text === "" || text === "*";
}
