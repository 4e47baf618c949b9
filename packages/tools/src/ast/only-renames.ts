import type { Language } from "./languages.ts";

/** Words that have, or may have, a meaning of their own in the languages of the JavaScript family. */
const RESERVED = new Set(
  (
    "abstract accessor any as assert asserts async await bigint boolean break case catch class const constructor continue debugger declare default defer " +
    "delete do else enum eval export extends false finally for from function get global if implements import in infer instanceof interface intrinsic is " +
    "keyof let meta module namespace never new null number object of out override package private protected public readonly require return satisfies set " +
    "source static string super switch symbol target this throw true try type typeof undefined unique unknown using var void while with yield"
  ).split(" "),
);
const FAMILY = new Set(["typescript", "tsx", "javascript"]);

const WORD = /[A-Za-z_$][\w$]*/g;

/** After one of these a word is a part of something else: an escape, a number, flags, a longer name. Before a quote it may be its prefix. */
const JOINED = /[\d\\/'"`\u0080-\uffff]/;

/**
 * Whether a change puts names in the place of names and nothing else. The tokens are of the same kinds then, and what could be parsed still can:
 * the result need not be parsed to know that. In doubt it is no such change.
 */
export function onlyRenames({ before, after }: { readonly before: string; readonly after: string }, { name }: Language): boolean {
  if (!FAMILY.has(name) || before.replace(WORD, "a") !== after.replace(WORD, "a")) return false;
  const present = [...after.matchAll(WORD)];
  return [...before.matchAll(WORD)].every((old, index) => {
    const word = present[index];
    return word !== undefined && (word[0] === old[0] || (isName(word) && isName(old)));
  });
}

function isName({ 0: word, index, input }: RegExpExecArray): boolean {
  return !(RESERVED.has(word) || JOINED.test(input[index - 1] ?? "") || JOINED.test(input[index + word.length] ?? ""));
}
