import type { Hazard, HazardId } from "../plan/plan.ts";
import { builtinText, changesShell, isReserved } from "./shell-builtins.ts";

/** How a command is joined to the one before; a newline is `;`. */
export type Join = "start" | "&&" | "||" | ";" | "|";

/** A word without quotes. `glob`: it has an unquoted `*` or `?`. `raw`: the word as written if it has variables, whose names are then between NULs in `text`. */
export type PlainWord = { readonly text: string; readonly glob: boolean; readonly raw?: string };

/** The redirections of the plain part. */
export type PlainRedirection = "2>&1" | "1>&2" | ">/dev/null" | "2>/dev/null" | "</dev/null";

/** A command of the plain part. */
export type PlainCommand = {
  readonly join: Join;
  readonly words: readonly [PlainWord, ...PlainWord[]];
  /** In written order: `>/dev/null 2>&1` is not `2>&1 >/dev/null`. */
  readonly redirections: readonly PlainRedirection[];
  /** The file of `< FILE`. */
  readonly input?: string;
  readonly at: readonly [start: number, end: number];
};

/** The commands of a text, or the first thing that is rejected. */
export type PlainReading = { readonly commands: readonly PlainCommand[] } | { readonly refused: Hazard };

/** Longer text is not parsed. */
export const LONGEST_COMMAND = 4096;
const LONGEST_BLANK = 40;
const MOST_EMPTY_LINES = 10;

const NOT_PLAIN = /[^\t\n\x20-\x7e]/;
/** A continued line counts as a blank after a blank. */
const BLANKS = /(?:[ \t](?:\\\n)*)+/y;
const MORE_BLANKS = [" ", "\t", "\\"];
const COMMENT = /#[^\n]*/y;
const OPERATOR = /&&|\|\||;(?![;&])|\|(?!&)/y;
const REDIRECTION = /(?:2>&1|1>&2|[12]?>[ \t]?\/dev\/null|<[ \t]?\/dev\/null)(?=[ \t\n;&|]|$)/y;
const OPERATORS = ["&&", "||", ";", "|"] as const;
const REDIRECTIONS = ["2>&1", "1>&2", ">/dev/null", "2>/dev/null", "</dev/null"] as const;
const INPUT = /<[ \t]*(?!\/dev\/)[\w./@+,-]+(?=[ \t\n;&|]|$)/y;
const BARE_WORD = /[\w./:@+,-]+(?=[ \t\n;&|]|$)/y;
/** Signs that are words of `test` and `find`. */
const SIGN_WORD = /[[\]!](?=[ \t\n;&|]|$)/y;
const WORD_END = /[ \t\n;&|]|$/y;
/** Variables whose values are known and no secrets. */
const VARIABLE = /\$(?:(HOME|PWD|USER|LOGNAME|SHELL|PATH|LANG)(?!\w)|\{(HOME|PWD|USER|LOGNAME|SHELL|PATH|LANG)\})/;
/** Bare text, a tilde inside it, braces that no shell expands, a pattern, an escaped character, a known variable, quotes. */
const PART = new RegExp(
  `[\\w./:=@+,%^-]+|(?<=[\\w./@+,%^-])~|\\{\\}|(?<=[@^])\\{[\\w-]+\\}|[*?]|\\\\[^\\n]|${VARIABLE.source}|'[^']*'|"(?:[^"\\\\$\`!]|\\\\[^\\n!]|${VARIABLE.source})*"`,
  "y",
);

const OPEN_QUOTES = /"(?:[^"\\$`!]|\\[^\n!])*/y;
const ESCAPED = new RegExp(`\\\\(["\\\\$\`])|${VARIABLE.source}`, "g");
const QUOTED = /'[^']*'|"(?:[^"\\]|\\.)*"|\\./gs;

const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[.*\])?\+?=/s;
/** `=id` of zsh, `%PATH%` of cmd. */
const FOR_OTHER_SHELL = /^=(?!=?$)|%[A-Za-z_]{3,}%/;

type StrictReader = {
  readonly text: string;
  at: number;
  readonly commands: PlainCommand[];
  words: [PlainWord, ...PlainWord[]] | undefined;
  redirections: PlainRedirection[];
  input: string | undefined;
  join: Join;
  start: number;
  end: number;
  /** Newlines since the last token. */
  lines: number;
};

type Refusal = Hazard | undefined;

/** Reads the plain part of bash, in which every word is literal, a pattern or a known variable, and rejects everything else. Only this reader can lead to an allow. */
export function readPlain(text: string): PlainReading {
  const reader: StrictReader = {
    text,
    at: 0,
    commands: [],
    words: undefined,
    redirections: [],
    input: undefined,
    join: "start",
    start: 0,
    end: 0,
    lines: 1,
  };
  let refused = checkText(reader);
  while (!refused && reader.at < text.length) refused = readToken(reader);
  refused ??= endText(reader);
  return refused ? { refused } : { commands: reader.commands };
}

function checkText(reader: StrictReader): Refusal {
  const { text } = reader;
  if (text.length > LONGEST_COMMAND) return refuse(reader, "too_long", `The command is longer than ${LONGEST_COMMAND} characters`);
  if (!NOT_PLAIN.test(text)) return undefined;
  reader.at = text.search(NOT_PLAIN);
  const code = text.charCodeAt(reader.at);
  const control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  return refuse(
    reader,
    control ? "control_character" : "unmodelled_construct",
    control ? "Contains a control character" : "Contains a character that is not plain ASCII",
  );
}

function refuse({ text, at }: Pick<StrictReader, "text" | "at">, id: HazardId, why: string): Hazard {
  return { id, text: why, at: [at, Math.min(at + 1, text.length)] };
}

function readToken(reader: StrictReader): Refusal {
  const { at: start } = reader;
  switch (reader.text[start]) {
    case "\n":
      return endLine(reader);
    case " ":
    case "\t":
      return skipBlanks(reader);
    case "#":
      takeToken(reader, COMMENT);
      reader.lines = 0;
      return undefined;
    case ";":
    case "&":
    case "|": {
      const operator = takeKnownToken(reader, OPERATOR, OPERATORS);
      return operator ? endCommand(reader, operator, start) : refuseCharacter(reader);
    }
    default: {
      const bare = takeToken(reader, BARE_WORD);
      return bare ? addWord(reader, { text: bare, glob: false }, start) : readStrangeToken(reader);
    }
  }
}

function skipBlanks(reader: StrictReader): Refusal {
  const { text, at: start } = reader;
  if (!MORE_BLANKS.includes(text.charAt(start + 1))) {
    reader.at++;
    return undefined;
  }
  const blanks = takeToken(reader, BLANKS);
  return blanks.length > LONGEST_BLANK && blanks.replaceAll("\\\n", " ").length > LONGEST_BLANK ? refuseGap(reader, start) : undefined;
}

function readStrangeToken(reader: StrictReader): Refusal {
  const { at: start } = reader;
  const plain = takeToken(reader, REDIRECTION).replace(/[ \t]/, "").replace("1>/", ">/");
  const redirection = REDIRECTIONS.find((one) => one === plain);
  if (redirection) return addRedirection(reader, redirection, start);
  const input = takeToken(reader, INPUT);
  if (input) return addInput(reader, input.slice(1).trimStart(), start);
  const word = takeToken(reader, SIGN_WORD);
  return word ? addWord(reader, { text: word, glob: false }, start) : readMixedWord(reader);
}

function takeToken(reader: StrictReader, form: RegExp): string {
  const { text, at } = reader;
  form.lastIndex = at;
  if (!form.test(text)) return "";
  reader.at = form.lastIndex;
  return text.slice(at, reader.at);
}

function takeKnownToken<One extends string>(reader: StrictReader, form: RegExp, known: readonly One[]): One | undefined {
  const token = takeToken(reader, form);
  return token ? known.find((one) => one === token) : undefined;
}

function refuseGap({ text }: StrictReader, at: number): Hazard {
  return refuse({ text, at }, "hidden_character", "A long run of blanks or empty lines can hide what follows it");
}

function readMixedWord(reader: StrictReader): Refusal {
  const { at: start } = reader;
  let text = "";
  let glob = false;
  let quoted = false;
  while (!isWordEnd(reader)) {
    const part = takeToken(reader, PART);
    if (!part) return refuseCharacter(reader);
    glob ||= part === "*" || part === "?";
    quoted ||= /^['"\\]/.test(part);
    text += removeQuotes(part);
  }
  const raw = reader.text.slice(start, reader.at);
  const variable = text.includes("\0");
  if (glob && (quoted || variable))
    return refuse({ ...reader, at: start }, "brace_or_glob", "A pattern is partly quoted or has a variable");
  if (isForOtherShell(raw)) return refuse({ ...reader, at: start }, "other_shell", "Another shell would expand a word");
  return addWord(reader, variable ? { text, glob, raw } : { text, glob }, start);
}

function isWordEnd({ text, at }: StrictReader): boolean {
  WORD_END.lastIndex = at;
  return WORD_END.test(text);
}

function removeQuotes(part: string): string {
  if (part.startsWith("'")) return part.slice(1, -1);
  if (part.startsWith('"')) return part.slice(1, -1).replace(ESCAPED, (_, sign, bare, braced) => sign ?? markVariable(bare ?? braced));
  const [, bare, braced] = (part.startsWith("$") && VARIABLE.exec(part)) || [];
  if (bare ?? braced) return markVariable(bare ?? braced);
  return part.startsWith("\\") ? part.slice(1) : part;
}

function markVariable(name = ""): string {
  return `\0${name}\0`;
}

function refuseCharacter(reader: StrictReader): Hazard {
  takeToken(reader, OPEN_QUOTES);
  const { text, at } = reader;
  if (at === text.length) return refuse(reader, "unparsed", "A quote is not closed");
  const rest = text.slice(at, at + 40);
  for (const [form, id, why] of REFUSED) if (form.test(rest)) return refuse(reader, id, why);
  return refuse(reader, "unmodelled_construct", `${text.charAt(at)} is outside quotes`);
}

const REFUSED: readonly (readonly [form: RegExp, id: HazardId, why: string])[] = [
  [/^'/, "unparsed", "A quote is not closed"],
  [/^(?:`|[$<>]\()/, "substitution", "Uses a substitution"],
  [/^\$/, "expansion", "Uses an expansion"],
  [/^[{}[\]]/, "brace_or_glob", "Uses a brace or bracket"],
  [/^&(?!>)/, "background", "Runs a command in the background"],
  [/^[<>]+[&|]?\s*\/dev\/(?:tcp|udp)\//, "network_redirection", "A redirection opens a network connection"],
  [/^[<>&]/, "redirection", "Uses a redirection that Assent doesn't support"],
  [/^~/, "other_shell", "A tilde may be expanded"],
  [/^\\/, "unmodelled_construct", "A backslash continues a word on the next line, or ends the text"],
  [/^[;|]/, "unmodelled_construct", "Uses an operator that Assent doesn't support"],
];

function addWord(reader: StrictReader, word: PlainWord, start: number): Refusal {
  const { text, at } = reader;
  const refused = reader.words ? undefined : checkName(word);
  if (refused) return refuse({ text, at: start }, ...refused);
  if (reader.words) reader.words.push(word);
  else {
    reader.words = [word];
    reader.start = start;
  }
  reader.end = at;
  reader.lines = 0;
  return undefined;
}

type NameRefusal = readonly [id: HazardId, why: string];

function isForOtherShell(raw: string): boolean {
  return FOR_OTHER_SHELL.test(/['"\\]/.test(raw) ? raw.replace(QUOTED, "''") : raw);
}

function checkName({ text, glob, raw }: PlainWord): NameRefusal | undefined {
  if (raw !== undefined) return ["expansion", "The command's name is a variable"];
  if (glob) return ["brace_or_glob", "The command's name is a pattern"];
  if (text.includes("=") && ASSIGNMENT.test(text)) return ["assignment", "Sets a variable"];
  return text === "" || /^[-+%]/.test(text) || isReserved(text)
    ? ["unmodelled_construct", "The command's name is not a plain word"]
    : undefined;
}

function addRedirection(reader: StrictReader, redirection: PlainRedirection, start: number): Refusal {
  if (!reader.words) return refuse({ ...reader, at: start }, "redirection", "A redirection comes before the command");
  reader.redirections.push(redirection);
  reader.end = reader.at;
  reader.lines = 0;
  return undefined;
}

/** Only one, and after the command's name. */
function addInput(reader: StrictReader, file: string, start: number): Refusal {
  if (!reader.words || reader.input !== undefined || reader.redirections.includes("</dev/null"))
    return refuse({ ...reader, at: start }, "redirection", "A redirection comes before the command, or there are two of its input");
  reader.input = file;
  reader.end = reader.at;
  reader.lines = 0;
  return undefined;
}

function endLine(reader: StrictReader): Refusal {
  if (++reader.lines > MOST_EMPTY_LINES + 1) return refuseGap(reader, reader.at);
  const refused = reader.words ? endCommand(reader, ";", reader.at) : undefined;
  reader.at++;
  return refused;
}

function endCommand(reader: StrictReader, next: Join, at: number): Refusal {
  const { text, words, redirections, input, join, start, end } = reader;
  if (!words) return refuse({ text, at }, "unparsed", "A command is missing");
  if (changesShell(words.map((word) => word.text))) return refuse({ text, at: start }, "state_builtin", builtinText(words[0].text));
  reader.commands.push({ join, words, redirections, ...(input !== undefined && { input }), at: [start, end] });
  reader.words = undefined;
  reader.input = undefined;
  reader.redirections = [];
  reader.join = next;
  return undefined;
}

function endText(reader: StrictReader): Refusal {
  return !reader.words && reader.join === ";" ? undefined : endCommand(reader, ";", reader.at);
}
