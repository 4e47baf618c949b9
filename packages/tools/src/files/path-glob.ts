import { compileGlob } from "@assent/core";

/** Tells whether a relative path, given by its names, is meant as a whole. */
export type PathTest = (names: readonly string[]) => boolean;

/** Tells whether one name of a path is meant. */
export type NameTest = (name: string) => boolean;

/** How many globs braces may make of one. */
const MOST_ALTERNATIVES = 256;

/**
 * Reads `*`, `?`, `[a-z]`, `[!a]`, `[^a]`, `\x` within a name and `**` as any number of names. Nothing is compiled to a regular expression, so no
 * pattern takes long. A pattern that is malformed means no path at all.
 */
export function compilePathGlob(pattern: string): PathTest {
  const steps = pattern.split("/").map((name) => (name === "**" ? ANY_NAMES : compileNameGlob(name)));
  return (names) => matchesSteps(steps, names);
}

/** True for a text that is more than the name of one place. */
export function isGlob(text: string): boolean {
  return /[*?[{]/.test(text);
}

/** `{a,b}` is as good as two patterns. Braces without a comma, unclosed ones and too many of them stand for themselves. */
export function expandBraces(pattern: string): readonly string[] {
  const done: string[] = [];
  const todo = [pattern];
  for (let one = todo.pop(); one !== undefined; one = todo.pop()) {
    const found = /\{([^{}]*,[^{}]*)\}/.exec(one);
    if (!found) done.push(one);
    else {
      const [all, list = ""] = found;
      const [before, after] = [one.slice(0, found.index), one.slice(found.index + all.length)];
      for (const alternative of list.split(",")) todo.push(before + alternative + after);
    }
    if (done.length + todo.length > MOST_ALTERNATIVES) return [pattern];
  }
  return done;
}

const ANY_NAMES = Symbol("**");

/** Only the last `**` is ever given one name more: whatever stood before it matched at its earliest place. */
function matchesSteps(steps: readonly (NameTest | typeof ANY_NAMES)[], names: readonly string[]): boolean {
  let s = 0;
  let back = -1;
  let mark = 0;
  for (let n = 0; n < names.length; ) {
    const step = steps[s];
    if (step === ANY_NAMES) {
      back = ++s;
      mark = n;
    } else if (step?.(names[n] ?? "")) {
      s++;
      n++;
    } else if (back === -1) return false;
    else {
      s = back;
      n = ++mark;
    }
  }
  while (steps[s] === ANY_NAMES) s++;
  return s === steps.length;
}

/** The same within one name. The few shapes of nearly all names are compared as texts. */
export function compileNameGlob(glob: string): NameTest {
  const text = glob.replace(/\*{2,}/g, "*");
  if (!/[*?[\\]/.test(text)) return (name) => name === text;
  if (text === "*") return () => true;
  const end = text.slice(1);
  if (text.startsWith("*") && !/[*?[\\]/.test(end)) return (name) => name.endsWith(end);
  const start = text.slice(0, -1);
  if (text.endsWith("*") && !/[*?[\\]/.test(start)) return (name) => name.startsWith(start);
  return compileTest(text);
}

function compileTest(glob: string): NameTest {
  try {
    return compileGlob(glob.replace(ESCAPED_OR_CLASS, toGlobClass), { caseSensitive: true }).matches;
  } catch {
    return () => false; // a class that is not closed, a backslash at the end: such a pattern means nothing, as it does to git
  }
}

/** An escaped character, or a class up to the bracket that closes it; a bracket that comes first in it is one of its characters. */
const ESCAPED_OR_CLASS = /\\.|\[[!^]?\]?(?:\\.|[^\]\\])*\]/gs;

/** `[^]a]` as the compiler of globs spells it: `[!\]a]`. */
function toGlobClass(text: string): string {
  return text.startsWith("\\") ? text : text.replace(/^\[\^/, "[!").replace(/^(\[!?)\]/, "$1\\]");
}
