import { compileGlob, type Glob, PatternError } from "@assent/core";

/** A word of a shell rule. With a glob, `text` is the glob with quoted characters escaped. */
export type RuleWord = { readonly text: string; readonly glob?: Glob };

/** The words of a rule, and whether it ends in a separate `*`. */
export type RuleWords = { readonly words: readonly RuleWord[]; readonly tail: boolean };

/** An error in a rule's text; the column counts from 1. */
export type RuleWordsProblem = { readonly problem: string; readonly column: number };

/** Splits a rule's text with the shell's quoting rules. Expansions, operators and redirections are errors. */
export function readRuleWords(text: string): RuleWords | RuleWordsProblem {
  const words: RuleWord[] = [];
  let tail = false;
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const read = readWord(text, at);
    if ("problem" in read) return read;
    const isLast = skipBlanks(text, read.end) === text.length;
    tail = isLast && /^(?:\*|.+:\*)$/s.test(read.glob);
    const glob = tail ? read.glob.slice(0, Math.max(0, read.glob.length - 2)) : read.glob;
    at = read.end;
    if (tail && glob === "") break;
    const word = compileWord(glob, read);
    if ("problem" in word) return word;
    words.push(word);
  }
  return { words, tail };
}

type RuleWordText = { readonly glob: string; readonly start: number; readonly end: number };

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at++;
  return at;
}

function readWord(text: string, start: number): RuleWordText | RuleWordsProblem {
  let glob = "";
  let at = start;
  while (at < text.length && text[at] !== " " && text[at] !== "\t") {
    const piece = readPiece(text, at, at === start);
    if ("problem" in piece) return { problem: piece.problem, column: at + 1 };
    glob += piece.glob;
    at = piece.end;
  }
  return { glob, start, end: at };
}

type RulePiece = { readonly glob: string; readonly end: number } | { readonly problem: string };

const REFUSED: Readonly<Record<string, string>> = {
  $: "an expansion",
  "`": "a substitution",
  ";": "an operator",
  "&": "an operator",
  "|": "an operator",
  "(": "a parenthesis",
  ")": "a parenthesis",
  "<": "a redirection",
  ">": "a redirection",
  "\n": "a line break",
};

function readPiece(text: string, at: number, isFirst: boolean): RulePiece {
  const character = text[at] ?? "";
  const refused = refusedAt(text, at, isFirst);
  if (refused) return { problem: `${refused} is not allowed in a rule; quote it to match it as text` };
  if (character === "'") return singleQuoted(text, at);
  if (character === '"') return doubleQuoted(text, at);
  if (character !== "\\") return { glob: character, end: at + 1 };
  return at + 1 < text.length ? { glob: escapeGlob(text[at + 1] ?? ""), end: at + 2 } : { problem: "dangling '\\'" };
}

function refusedAt(text: string, at: number, isFirst: boolean): string | undefined {
  const character = text[at] ?? "";
  if (character === "~" && isFirst) return "a tilde that a shell expands";
  if (character === "{" && BRACES.test(text.slice(at))) return "braces that a shell expands";
  return REFUSED[character];
}

const BRACES = /^\{[^\s{}]*(?:,|\.\.)[^\s{}]*\}/;

function singleQuoted(text: string, at: number): RulePiece {
  const end = text.indexOf("'", at + 1);
  return end === -1 ? { problem: "a quote is not closed" } : { glob: escapeGlob(text.slice(at + 1, end)), end: end + 1 };
}

function doubleQuoted(text: string, at: number): RulePiece {
  let inside = "";
  for (let i = at + 1; i < text.length; i++) {
    const character = text[i] ?? "";
    if (character === '"') return { glob: escapeGlob(inside), end: i + 1 };
    if (character === "$" || character === "`")
      return { problem: "an expansion is not allowed in a rule; put it in single quotes to match it as text" };
    if (character === "\\" && '"\\$`'.includes(text[i + 1] ?? " ")) i++;
    inside += text[i];
  }
  return { problem: "a quote is not closed" };
}

function escapeGlob(text: string): string {
  return text.replace(/[*?[\]\\]/g, "\\$&");
}

/** Only an unquoted `*`, `?` or `[` makes a glob; `[` alone is a command. */
function compileWord(source: string, { start }: RuleWordText): RuleWord | RuleWordsProblem {
  const bare = source.replace(/\\./gs, "");
  if (source === "[" || !/[*?[]/.test(bare)) return { text: source.replace(/\\(.)/gs, "$1") };
  try {
    return { text: source, glob: compileGlob(source, { caseSensitive: true }) };
  } catch (error) {
    if (error instanceof PatternError) return { problem: error.about.problem, column: start + 1 };
    throw error;
  }
}
