import type { Verdict } from "../decision.ts";
import { isObject } from "../json/json.ts";
import { unicodePattern } from "../text/unicode-pattern.ts";
import { PatternError } from "./error.ts";
import { compileGlob, type Glob } from "./glob.ts";

/** A compiled rule text of the form `tool` or `tool:arg=glob[:arg2=glob2…]`. */
export type Pattern = { readonly text: string; readonly tool: Glob; readonly conditions: readonly Condition[] };

/** One argument that must match; `path` reaches into objects. */
export type Condition = { readonly path: readonly [string, ...string[]]; readonly glob: Glob };

/** What a pattern is matched against: a request, and what its tool declares about its input. */
export type Subject = {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Other spellings of root properties, so that none evades a rule. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The root property that holds a shell command. */
  readonly commandArg?: string;
  /** Nothing else reads the command line, so a deny or ask looks behind quotes, assignments and other commands, too. */
  readonly unread?: true;
};

/** How rules read the input of a tool that executes, where its command line is not analyzed. */
export const UNREAD_COMMAND: Pick<Subject, "aliases" | "commandArg" | "unread"> = Object.freeze({
  aliases: Object.freeze({ cmd: "command" }),
  commandArg: "command",
  unread: true,
});

const APPLY = ".apply";

/** The name rules use for applying a proposal staged by this tool; tool names contain no dot. */
export function applyName(tool: string): string {
  return `${tool}${APPLY}`;
}

/** True for an `.apply` name. */
export function isApplyName(name: string): boolean {
  return name.slice(-APPLY.length).toLowerCase() === APPLY;
}

/** The tool behind an `.apply` name. */
export function sourceOfApply(name: string): string {
  return name.slice(0, -APPLY.length);
}

/** False for an allow that does not name `.apply`, because even `*` must not allow applying a proposal. */
export function mayCover(toolText: string, how: Verdict, name: string): boolean {
  return how !== "allow" || !isApplyName(name) || isApplyName(toolText);
}

/** Parses a rule text. Throws `PatternError`. */
export function parsePattern(text: string): Pattern {
  const starts = conditionStarts(text);
  const toolText = text.slice(0, starts[0]?.colon ?? text.length);
  checkToolText(text, toolText);
  const conditions = starts.map(({ name, colon, value }, i): Condition => {
    if (starts.some((other, j) => j < i && other.name === name))
      throw new PatternError({ text, problem: `argument '${name}' is repeated`, column: colon + 2 });
    return { path: pathOf(text, name, colon + 2), glob: globIn(text, value, starts[i + 1]?.colon ?? text.length) };
  });
  return { text, tool: globIn(text, 0, toolText.length), conditions };
}

/**
 * Matches a pattern: an allow narrowly, a deny or ask broadly. For an allow every array element must match, and
 * commands match word by word if they are bare words. For a deny or ask any element matches, and so does the whole
 * command or any part.
 */
export function matchesPattern(pattern: Pattern, how: Verdict, subject: Subject): boolean {
  if (!pattern.tool.matches(subject.tool) || !mayCover(pattern.tool.text, how, subject.tool)) return false;
  if (how === "allow" && subject.commandArg !== undefined && !commandLines(subject, subject.commandArg).every(isPlainCommand)) return false;
  return pattern.conditions.every((condition) => holds(condition, how, subject));
}

const CONDITION = /:([A-Za-z_][A-Za-z0-9_.]*)=/y;

type Start = { readonly name: string; readonly colon: number; readonly value: number };

/** Any other colon, and an escaped one, belongs to its glob. */
function conditionStarts(text: string): readonly Start[] {
  const starts: Start[] = [];
  for (let i = 0; i < text.length; i++) {
    CONDITION.lastIndex = i;
    const name = CONDITION.exec(text)?.[1];
    if (name !== undefined) {
      starts.push({ name, colon: i, value: CONDITION.lastIndex });
      i = CONDITION.lastIndex - 1;
    } else if (text[i] === "\\") i++;
  }
  return starts;
}

const OTHER_NOTATION = "parenthesis (here a rule is tool or tool:argument=glob; Tool(specifier) is read by @assent/policy)";

/** Matches most names, without compiling the Unicode pattern. */
const PLAIN_NAME = /^[\w*?[\]!\\-]*$/;
const oddInNames = unicodePattern(String.raw`[^\p{L}\p{M}\p{N}_*?[\]!\\-]`, "u");

function checkToolText(text: string, tool: string): void {
  if (tool === "") throw new PatternError({ text, problem: "empty tool", column: 1 });
  const plain = tool.replaceAll(/\\./gsu, (escaped) => "_".repeat(escaped.length));
  const colon = tool.indexOf(":");
  const open = plain.indexOf("(");
  if (open !== -1 && (colon === -1 || open < colon)) throw new PatternError({ text, problem: OTHER_NOTATION, column: open + 1 });
  if (colon !== -1) {
    const problem = tool[colon + 1] === "=" ? "empty argument name" : "colon in the tool part";
    throw new PatternError({ text, problem, column: colon + 1 });
  }
  const name = isApplyName(plain) ? sourceOfApply(plain) : plain;
  const odd = PLAIN_NAME.test(name) ? -1 : name.search(oddInNames());
  if (odd !== -1) throw new PatternError({ text, problem: "character that is in no tool's name", column: odd + 1 });
}

function pathOf(text: string, name: string, column: number): Condition["path"] {
  const [root = "", ...inner] = name.split(".");
  if (inner.includes("")) throw new PatternError({ text, problem: "empty argument name", column });
  return [root, ...inner];
}

function globIn(text: string, start: number, end: number): Glob {
  try {
    return compileGlob(text.slice(start, end));
  } catch (error) {
    if (error instanceof PatternError) throw new PatternError({ ...error.about, text, column: start + error.about.column });
    throw error;
  }
}

function holds({ path, glob }: Condition, how: Verdict, subject: Subject): boolean {
  const [written, ...inner] = path;
  const name = propertyOf(written, subject);
  const isCommand = name === subject.commandArg && inner.length === 0;
  const reading: ConditionTest = { how, test: isCommand ? commandTest(glob, how, subject.unread) : glob.matches };
  const lines = isCommand ? commandLines(subject, name) : spellings(subject, name);
  if (how === "allow") return lines.length > 0 && lines.every((value) => reaches(value, inner, reading));
  const values = isCommand ? [...spellings(subject, name), ...lines] : lines;
  return values.some((value) => reaches(value, inner, reading) || (isCommand && Array.isArray(value) && reading.test(value.join(" "))));
}

type ConditionTest = { readonly how: Verdict; readonly test: (value: string) => boolean };

function propertyOf(name: string, { aliases }: Subject): string {
  return (aliases && Object.hasOwn(aliases, name) && aliases[name]) || name;
}

/** A property's values under all its spellings. */
function spellings({ input, aliases }: Subject, name: string): readonly unknown[] {
  const values = Object.hasOwn(input, name) ? [input[name]] : [];
  for (const [alias, property] of Object.entries(aliases ?? {})) {
    if (property === name && Object.hasOwn(input, alias)) values.push(input[alias]);
  }
  return values;
}

/** A command with its `args`, if the tool takes them apart: `{ command: "git", args: ["push"] }`. */
function commandLines(subject: Subject, name: string): readonly unknown[] {
  const { args } = subject.input;
  const values = spellings(subject, name);
  if (!subject.unread || !Array.isArray(args)) return values;
  return values.map((value) => (typeof value === "string" ? [value, ...args].join(" ") : value));
}

function reaches(value: unknown, path: readonly string[], reading: ConditionTest): boolean {
  if (Array.isArray(value)) {
    if (reading.how !== "allow") return value.some((item) => reaches(item, path, reading));
    return value.length > 0 && value.every((item) => reaches(item, path, reading));
  }
  const [key, ...rest] = path;
  if (key !== undefined) return isObject(value) && Object.hasOwn(value, key) && reaches(value[key], rest, reading);
  const text = textOf(value);
  return text !== undefined && reading.test(text);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number") return plainDecimal(value);
  return typeof value === "boolean" || value === null ? String(value) : undefined;
}

/** `1000000` and `0.0000001`, never `1e-7`, because people write rules that way. */
function plainDecimal(value: number): string {
  const [, sign = "", whole = "", fraction = "", exponent] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(String(value)) ?? [];
  if (exponent === undefined) return String(value);
  const point = whole.length + Number(exponent);
  const digits = (whole + fraction).padStart(whole.length + fraction.length + Math.max(0, 1 - point), "0").padEnd(point, "0");
  const cut = Math.max(1, point);
  return sign + digits.slice(0, cut) + (digits.length > cut ? `.${digits.slice(cut)}` : "");
}

/** How a rule reads a command when there is no shell analysis: narrowly for an allow, broadly for a deny or ask. */
function commandTest(glob: Glob, how: Verdict, unread: boolean | undefined): (command: string) => boolean {
  if (how === "allow") return (command) => allows(glob, command);
  return (command) => partsOf(command).some(glob.matches) || (unread === true && mayRun(glob, command));
}

/**
 * True if the glob matches from any word on, after removing quotes, escapes and folders: `FOO=1 rm x`, `bash -c "rm x"`, `/bin/r''m x`.
 * Without a parser, that also finds words that are only arguments.
 */
function mayRun(glob: Glob, command: string): boolean {
  const fromAnyWord = FROM_ANY_WORD.get(glob) ?? compileGlob(`*[ /]${glob.text}`);
  FROM_ANY_WORD.set(glob, fromAnyWord);
  const joined = command.replaceAll(/\\\r?\n/g, "").replaceAll(/\$\{?IFS\}?/g, " ");
  const spelled = [joined, joined.replaceAll(/["'\\]/g, "")];
  const parts = spelled.flatMap((line) => [
    ...line.split(SEPARATORS),
    ...line.split(MARKS),
    line.replaceAll(MARKS, " "),
    spaceBraces(line),
  ]);
  return parts.some((part) => {
    const words = ` ${part.replaceAll(/\s+/gu, " ").trim()}`;
    return fromAnyWord.matches(words) || fromAnyWord.matches(`${words} `); // `xargs rm` adds the arguments
  });
}

const SEPARATORS = /[\n\r;&|(){}`]+/;
/** Separators, and marks that may begin a word or end it: `"rm x"`, `rm>x`, `rm $x`. */
const MARKS = /[\n\r;&|(){}`<>"'$#]+/g;

/** `{rm,-rf,x}` runs `rm -rf x`. */
function spaceBraces(line: string): string {
  return line.replaceAll(/[{},]+/g, " ");
}

const FROM_ANY_WORD = new WeakMap<Glob, Glob>();

const MAX_LENGTH = 4096;
const BARE_WORDS = /^[\w./:=@+,%^~ \t-]*$/;
/** A shell would insert a home directory here. */
const EXPANDED_TILDE = /(?:^|[ \t:=])~/;

/** True for bare words and blanks, which no shell could read differently. */
function isPlainCommand(command: unknown): boolean {
  if (typeof command !== "string" || command.length > MAX_LENGTH || command.trim() === "") return false;
  return BARE_WORDS.test(command) && !EXPANDED_TILDE.test(command);
}

/** Compares word by word and case-sensitively. A trailing star covers whole words, so `ls*` does not match `lsof`. */
function allows({ plain }: Glob, command: string): boolean {
  if (!plain || !isPlainCommand(command)) return false;
  const rule = wordsOf(plain.text);
  const words = wordsOf(command);
  return (plain.star ? words.length >= rule.length : words.length === rule.length) && rule.every((word, i) => word === words[i]);
}

function wordsOf(text: string): readonly string[] {
  return text.split(/[ \t]+/).filter((word) => word !== "");
}

/** The whole text, and each part between separators and brackets, which may be a command of its own. */
function partsOf(command: string): readonly string[] {
  const parts = command.split(SEPARATORS).map((part) => part.trim());
  return [command, ...parts.filter((part) => part !== "")];
}
