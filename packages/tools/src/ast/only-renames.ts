import type { Language } from "./languages.ts";

/** Words with a special meaning in JavaScript or TypeScript. */
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

/** Next to one of these, a word is part of something else: an escape, a number, regex flags, a longer name. */
const JOINED = /[\d\\/'"`\u0080-\uffff]/;

/**
 * True if a change only replaces names with other names. The result then still parses, so it need not be checked. Returns false in
 * doubt.
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
