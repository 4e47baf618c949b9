import { compileGlob } from "@assent/core";
import { foldPath } from "../paths/fold.ts";

export type PathName = { readonly exact: string; readonly folded: string };

type NameTest = (name: PathName) => boolean;

const ANY_DEPTH = Symbol("**");

type PathToken = NameTest | typeof ANY_DEPTH;

/** Literal names, then names that may be globs. */
export type PathParts = { readonly base: readonly string[]; readonly globs: readonly string[] };

/**
 * Compiles a path glob; a match covers everything below. Narrow compares exactly, and a final `**` needs something below. Broad ignores case and
 * trailing dots, and includes the directory. Throws `PatternError`.
 */
export function compilePathGlob({ base, globs }: PathParts, narrow: boolean): (names: readonly PathName[]) => boolean {
  const literal = narrow ? exactName : foldedName;
  const glob = narrow ? exactGlob : broadGlob;
  const open = globs.findLastIndex((part) => part !== "**") + 1;
  const tokens: PathToken[] = [...base.map(literal), ...globs.slice(0, open).map((part) => (part === "**" ? ANY_DEPTH : glob(part)))];
  if (narrow && open < globs.length) tokens.push(() => true);
  return (names) => matchesStart(tokens, names);
}

export function splitPathNames(path: string): readonly PathName[] {
  return path
    .split("/")
    .filter((name) => name !== "")
    .map((name) => ({ exact: name, folded: foldPath(name) }));
}

/** Backtracks only to the last `**`, so it stays quadratic at worst. */
function matchesStart(tokens: readonly PathToken[], names: readonly PathName[]): boolean {
  let star = -1;
  let mark = 0;
  let n = 0;
  for (let t = 0; t < tokens.length; ) {
    const token = tokens[t];
    const name = names[n];
    if (token === ANY_DEPTH) {
      star = ++t;
      mark = n;
    } else if (name && token?.(name)) {
      t++;
      n++;
    } else if (star === -1 || mark >= names.length) return false;
    else {
      t = star;
      n = ++mark;
    }
  }
  return true;
}

function exactName(text: string): NameTest {
  const name = text.normalize("NFC");
  return ({ exact }) => exact.normalize("NFC") === name;
}

function foldedName(text: string): NameTest {
  const name = foldPath(text);
  return ({ folded }) => folded === name;
}

function exactGlob(text: string): NameTest {
  const { matches } = compileGlob(text, { caseSensitive: true });
  return ({ exact }) => matches(exact);
}

/** Folding can lengthen a name: `straße` and `STRASSE` are equal on some file systems. */
function broadGlob(text: string): NameTest {
  const { matches } = compileGlob(text);
  const folded = /[[\\]/.test(text) ? undefined : compileGlob(foldPath(text), { caseSensitive: true });
  return (name) => matches(name.exact) || matches(name.folded) || folded?.matches(name.folded) === true;
}

export function isGlob(text: string): boolean {
  return /[*?[\\]/.test(text);
}

/** Escapes a text so that a glob matches it literally. */
export function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[]/g, "\\$&");
}
