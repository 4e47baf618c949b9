import { compileGlob } from "@assent/core";

/** Tests a relative path, given as a list of names. */
export type PathTest = (names: readonly string[]) => boolean;

export type NameTest = (name: string) => boolean;

/** Limit for the expansion of braces. */
const MOST_ALTERNATIVES = 256;

/**
 * Compiles a path glob: `*`, `?`, `[a-z]`, `[!a]`, `[^a]`, `\x` within a name, `**` for any number of names. Uses no regular
 * expressions, so matching time is bounded. A malformed pattern matches nothing.
 */
export function compilePathGlob(pattern: string): PathTest {
  const steps = pattern.split("/").map((name) => (name === "**" ? ANY_NAMES : compileNameGlob(name)));
  return (names) => matchesSteps(steps, names);
}

export function isGlob(text: string): boolean {
  return /[*?[{]/.test(text);
}

/** `{a,b}` becomes two patterns. Braces without a comma, unclosed ones and too many of them are taken literally. */
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

/** Backtracks only to the last `**`, which is enough and keeps matching fast. */
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

/** Compiles a glob for one name, with shortcuts for the common forms. */
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
    return () => false; // like git: an unclosed class or a trailing backslash matches nothing
  }
}

/** An escaped character, or a class; a `]` right after its start belongs to the class. */
const ESCAPED_OR_CLASS = /\\.|\[[!^]?\]?(?:\\.|[^\]\\])*\]/gs;

/** Converts `[^]a]` to core's spelling `[!\]a]`. */
function toGlobClass(text: string): string {
  return text.startsWith("\\") ? text : text.replace(/^\[\^/, "[!").replace(/^(\[!?)\]/, "$1\\]");
}
