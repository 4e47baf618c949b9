/** Commands that print, skip or hold lines and take no argument. */
const PLAIN_COMMANDS = "pPdnNhHgGx=";
const NUMBERED_COMMANDS = "qQl";
/** The rest of the line is text. */
const TEXT_COMMANDS = "aic";
const TEXT = /[^\n\\]+/y;
const ADDRESS = /(?:\d+~\d+|\d+|\$)/y;
const SEPARATORS = /[\s;]*/y;
const BLANKS = /[ \t]*/y;
const NUMBER = /\d*/y;
const FLAGS = /[gpiImM\d]*/y;

type SedReader = { readonly text: string; at: number; depth: number };

/** Whether a sed script only selects, changes and prints lines. Anything not understood counts as more. */
export function isHarmlessSed(text: string): boolean {
  const script: SedReader = { text, at: 0, depth: 0 };
  take(script, SEPARATORS);
  while (script.at < text.length) {
    if (!readCommand(script)) return false;
    take(script, SEPARATORS);
  }
  return script.depth === 0;
}

function take(script: SedReader, form: RegExp): string {
  const { text, at } = script;
  form.lastIndex = at;
  if (form.test(text)) script.at = form.lastIndex;
  return text.slice(at, script.at);
}

function skip(script: SedReader, character: string): boolean {
  const there = script.text.charAt(script.at) === character;
  if (there) script.at++;
  return there;
}

function readCommand(script: SedReader): boolean {
  if (skip(script, "}")) return --script.depth >= 0 && isEnded(script);
  if (!readAddresses(script)) return false;
  const letter = script.text.charAt(script.at++);
  if (letter === "{") return ++script.depth < 100;
  if (letter === "s") return readSubstitution(script) && isEnded(script);
  if (letter === "y") return readDelimited(script) && isEnded(script);
  if (letter !== "" && TEXT_COMMANDS.includes(letter)) return take(script, TEXT) !== "" && isLineEnd(script);
  if (letter !== "" && NUMBERED_COMMANDS.includes(letter)) take(script, NUMBER);
  else if (letter === "" || !PLAIN_COMMANDS.includes(letter)) return false;
  return isEnded(script);
}

function readAddresses(script: SedReader): boolean {
  const first = readAddress(script);
  take(script, BLANKS);
  if (first && skip(script, ",")) {
    take(script, BLANKS);
    if (!(readRelative(script) || readAddress(script))) return false;
    take(script, BLANKS);
  }
  while (skip(script, "!")) take(script, BLANKS);
  return true;
}

function readRelative(script: SedReader): boolean {
  return (skip(script, "+") || skip(script, "~")) && take(script, NUMBER) !== "";
}

function readAddress(script: SedReader): boolean {
  if (take(script, ADDRESS) !== "") return true;
  if (!skip(script, "/") || !readUpTo(script, "/", true)) return false;
  while (skip(script, "I") || skip(script, "M"));
  return true;
}

function readSubstitution(script: SedReader): boolean {
  if (!readDelimited(script)) return false;
  take(script, FLAGS);
  return true;
}

function readDelimited(script: SedReader): boolean {
  const delimiter = script.text.charAt(script.at++);
  return /^[/|#,:;@!%_+=~-]$/.test(delimiter) && readUpTo(script, delimiter, true) && readUpTo(script, delimiter, false);
}

function isLineEnd({ text, at }: SedReader): boolean {
  return at === text.length || text.charAt(at) === "\n";
}

/** Programs differ on a delimiter inside brackets, so such a script is not understood. */
function readUpTo(script: SedReader, delimiter: string, pattern: boolean): boolean {
  const end = pattern ? PATTERN_CHARACTER : REPLACEMENT_CHARACTER;
  while (script.at < script.text.length) {
    if (skip(script, delimiter)) return true;
    const part = take(script, end);
    if (part === "" || (part.startsWith("[") && part.includes(delimiter))) return false;
  }
  return false;
}

/** An escaped character, a bracket expression, or another character. */
const PATTERN_CHARACTER = /\\[^\n]|\[\^?\]?(?:\[[:.=][^\]\n]*[:.=]\]|[^\]\n\\]|\\[^\]\n])*\]|[^\n\\[]/y;
const REPLACEMENT_CHARACTER = /\\[^\n]|[^\n\\]/y;

function isEnded(script: SedReader): boolean {
  take(script, BLANKS);
  const next = script.text.charAt(script.at);
  return next === "" || next === ";" || next === "\n" || next === "}";
}
