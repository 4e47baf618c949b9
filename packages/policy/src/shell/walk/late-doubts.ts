import { runsOf } from "../programs/table.ts";
import type { CommandShape } from "../read/bash-tree.ts";
import { commandName } from "../read/command-name.ts";

/** Why Assent can't tell what a command with mostly literal words runs. */
export function findLateDoubts({ words, assignments, redirections }: CommandShape): readonly string[] {
  const doubts: string[] = [];
  if (redirections.some(({ op, target }) => op === ">&" && /[$`]/.test(target))) doubts.push("The target of >& is expanded twice");
  if (words.some(({ value }) => isReadAtStart(value)) || assignments.some(({ name, value }) => isReadAtStart(`${name}=${value.value}`)))
    doubts.push("Sets a variable that shells run as a program when they start");
  if (hasUnknownOption(words)) doubts.push("An option is only known at run time");
  return doubts;
}

function isReadAtStart(text: string): boolean {
  return text.includes("=") && READ_AT_START.test(text);
}

/** Their values are expanded, or are functions. */
const READ_AT_START = /^(?:BASH_ENV|ENV|BASH_FUNC_[^=]*)=[\s\S]*[$`{]/;

/** A word that may become an option that decides what runs. */
function hasUnknownOption(words: CommandShape["words"]): boolean {
  const mayBeOption = words.some(({ word }, i) => i > 0 && word.dynamic && /^["']?(?:-|[$`{"])/.test(word.text));
  if (!mayBeOption) return false;
  const [first, ...rest] = words;
  const name = first && !first.word.dynamic ? commandName(first.value) : "";
  if (name === "find") return rest.some(({ value }) => value === ";" || value === "+");
  const runs = runsOf(name);
  return runs !== undefined && "byOption" in runs && rest.some(({ word, value }) => !word.dynamic && /\s/.test(value));
}

/** Why a whole text is doubtful: literals are evaluated elsewhere in it, or quotes end in an unexpected place. */
export function findTextDoubt(text: string): string | undefined {
  if (!/[$`]/.test(text)) return undefined;
  if (hasCountedQuotes(text) || hasSplitArithmetic(text)) return "Assent can't tell where a quote or a substitution ends";
  const meant = READS_LINES.test(text) ? text : withoutDocuments(text);
  return EVALUATES.test(meant) && holdsLateSubscript(meant) ? "A subscript that looks like plain text is evaluated" : undefined;
}

/** Looking for the closing quote, bash reads the `$(` of `$$(` as a substitution with quotes of its own. */
function hasCountedQuotes(text: string): boolean {
  let at = text.search(/(?<!\$)(?:\$\$)+\(/);
  for (const sign of ['"', "'"]) if (at !== -1) at = text.indexOf(sign, at + 1);
  return at !== -1 && SUBSTITUTION.test(text.slice(at));
}

const SUBSTITUTION = /(?<!\$)(?:\$\$)*\$\(|`/;

/** `$((` without `))` is a substitution with a subshell: what looks like arithmetic is run. */
function hasSplitArithmetic(text: string): boolean {
  const arithmetic: boolean[] = [];
  for (const { index } of text.matchAll(/[()]/g)) {
    if (text[index] === "(") arithmetic.push(index > 0 && text.startsWith("$((", index - 1));
    else if (arithmetic.pop() && text[index - 1] !== ")") return true;
  }
  return false;
}

/** Signs that a value is evaluated as arithmetic or as a name with a subscript. */
const EVALUATES =
  /\(\(|\$\[|\$\{!|\$\{\w+(?:\[|:(?![-=?+]))|@P\}|\w\[[^\]]*\]\+?=|\s-(?:eq|ne|[lg][te])\s|\[\s+-v\b|\b(?:declare|typeset|local|export|readonly|let|unset|read|mapfile|readarray|getopts|printf|test)\s/;

const READS_LINES = /\b(?:read|mapfile|readarray)\b/;

/** Here-documents that no builtin reads are input of programs. */
function withoutDocuments(text: string): string {
  return text.replace(/(<<-?[ \t]*\\?(["']?)([\w-]+)\2[^\n]*)\n(?:[^\n]*\n)*?[ \t]*\3(?=\n|$)/g, "$1");
}

/** Whether a literal has a name, a bracket, and a substitution in it. */
function holdsLateSubscript(text: string): boolean {
  const scan: SubscriptScan = { quoted: "", before: "", brackets: [] };
  const all = READS_LINES.test(text) && /<<-?\s*["'\\]/.test(text);
  for (const [token] of decodeEscapes(text).matchAll(/\\?\$\\?\((?!\()|\\[\s\S]|[\s\S]/g)) {
    const isSign = /^\\?(?:\$\\?\(|`)$/.test(token);
    if (isSign && scan.brackets.includes(true) && (all || scan.quoted === "'" || token.startsWith("\\"))) return true;
    followToken(scan, token);
  }
  return false;
}

type SubscriptScan = { quoted: "" | "'" | '"'; before: string; readonly brackets: boolean[] };

function followToken(scan: SubscriptScan, token: string): void {
  if ((token === "'" || token === '"') && (scan.quoted === "" || scan.quoted === token)) {
    scan.quoted = scan.quoted === "" ? token : "";
    return;
  }
  if (token.endsWith("[")) scan.brackets.push(/\w/.test(scan.before));
  else if (token.endsWith("]")) scan.brackets.pop();
  scan.before = token.slice(-1);
}

/** `$'…'` may spell characters by number. */
function decodeEscapes(text: string): string {
  if (!text.includes("$'")) return text;
  return CODES.reduce((read, [code, sign]) => read.replace(code, () => sign), text);
}

const CODES: readonly (readonly [code: RegExp, sign: string])[] = [
  [/\\(?:x24|0?44|[uU]0*24)/g, "$"],
  [/\\(?:x60|0?140|[uU]0*60)/g, "`"],
  [/\\(?:x5b|0?133|[uU]0*5b)/gi, "["],
];
