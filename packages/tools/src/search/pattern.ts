import { readClass } from "./pattern-class.ts";
import { type Cursor, PatternError, type PatternReading } from "./pattern-cursor.ts";
import { readEscape } from "./pattern-escape.ts";

export type JavaScriptPattern = { readonly source: string; readonly flags: string };

const DEEPEST = 250;

/** Converts Rust's regular expressions to JavaScript's. Throws `PatternError` for what one of the two does not support. */
export function toJavaScript(pattern: string, { multiline, ignoreCase }: { multiline: boolean; ignoreCase: boolean }): JavaScriptPattern {
  const cursor: Cursor = { text: pattern, at: 0 };
  const modes = switchedModes(cursor, { ignoreCase, dotAll: false }) ?? { ignoreCase, dotAll: false };
  const source = readAlternatives({ cursor, multiline, modes, flag: modes.ignoreCase, depth: 0 });
  if (cursor.at < pattern.length) throw new PatternError("unmatched closing parenthesis", cursor.at);
  const flags = modes.ignoreCase ? "iv" : "v";
  try {
    new RegExp(source, flags);
  } catch (error) {
    throw new PatternError(error instanceof Error ? error.message : String(error));
  }
  return { source, flags };
}

/** Reads to the end of the group. Flags set on the way apply until then, in later alternatives too. */
function readAlternatives(reading: PatternReading): string {
  const { cursor } = reading;
  let modes = reading.modes;
  let out = "";
  let quantifiable = false;
  while (cursor.at < cursor.text.length && cursor.text[cursor.at] !== ")") {
    const switched = switchedModes(cursor, modes);
    modes = switched ?? modes;
    const piece: PatternPiece = switched ? { source: "", quantifiable: false } : readPiece({ ...reading, modes }, quantifiable);
    out += piece.source;
    quantifiable = piece.quantifiable;
  }
  return out;
}

type PatternPiece = { readonly source: string; readonly quantifiable: boolean };

function readPiece(reading: PatternReading, quantifiable: boolean): PatternPiece {
  const { cursor, modes, flag } = reading;
  const at = cursor.at;
  if (cursor.text[at] === "|") {
    cursor.at++;
    return { source: "|", quantifiable: false };
  }
  const quantifier = QUANTIFIER.exec(cursor.text.slice(at, at + 40));
  if (!quantifier) {
    const atom = readAtom(reading);
    return { source: modes.ignoreCase === flag ? atom : `(?${flag ? "-i" : "i"}:${atom})`, quantifiable: true };
  }
  if (!quantifiable) throw new PatternError("there is nothing to repeat", at);
  cursor.at += quantifier[0].length;
  return { source: quantifier[0].replace("{,", "{0,"), quantifiable: false };
}

const QUANTIFIER = /^(?:[*+?]|\{\d+(?:,\d*)?\}|\{,\d+\})\??/;

function readAtom(reading: PatternReading): string {
  const { cursor } = reading;
  switch (cursor.text[cursor.at]) {
    case "(":
      return readGroup(reading);
    case "[":
      return readClass(reading);
    case "\\":
      return readEscape(reading);
    default:
      return readCharacter(reading);
  }
}

function readCharacter({ cursor, multiline, modes }: PatternReading): string {
  const at = cursor.at;
  const character = String.fromCodePoint(cursor.text.codePointAt(at) ?? 0);
  if (character === "{") throw new PatternError("a brace does not start a repetition: write \\{ for the character", at);
  if (character === "\n" && !multiline) throw new PatternError("line breaks match only with multiline", at);
  cursor.at += character.length;
  const special = SPECIAL[character];
  return special ? special[(character === "." ? modes.dotAll : multiline) ? 1 : 0] : character;
}

/** Replacement by default, and with `dotAll` or `multiline`. */
const SPECIAL: Readonly<Record<string, readonly [usually: string, otherwise: string]>> = {
  ".": ["[^\\n]", "[^]"],
  "^": ["(?:^)", "(?:(?<![^\\n]))"],
  $: ["(?:$)", "(?:(?![^\\n]))"],
  "]": ["\\]", "\\]"],
  "}": ["\\}", "\\}"],
};

function readGroup(reading: PatternReading): string {
  const { cursor, depth } = reading;
  const at = cursor.at;
  if (depth >= DEEPEST) throw new PatternError(`groups are nested more than ${DEEPEST} deep`, at);
  const start = GROUP.exec(cursor.text.slice(at, at + 200));
  if (!start) throw new PatternError(unknownGroup(cursor), at);
  cursor.at += start[0].length;
  const modes = start[1] === undefined ? reading.modes : readFlags(start[1], reading.modes);
  const inner = readAlternatives({ ...reading, modes, depth: depth + 1 });
  if (cursor.text[cursor.at] !== ")") throw new PatternError("a group is not closed", at);
  cursor.at++;
  return `(?:${inner})`;
}

/** Names of groups are dropped, because nothing can refer to them. */
const GROUP = /^\((?:\?P?<[A-Za-z_][\w.[\]]*>|\?([a-zA-Z]*(?:-[a-zA-Z]+)?):|(?!\?))/;

function unknownGroup({ text, at }: Cursor): string {
  return /^\(\?<?[=!]/.test(text.slice(at, at + 4))
    ? "look-around is not supported"
    : `the group that begins with '${text.slice(at, at + 4)}' is not known`;
}

function switchedModes(cursor: Cursor, modes: PatternReading["modes"]): PatternReading["modes"] | undefined {
  const found = /^\(\?([a-zA-Z]*(?:-[a-zA-Z]+)?)\)/.exec(cursor.text.slice(cursor.at, cursor.at + 20));
  if (!found?.[1]) return undefined;
  cursor.at += found[0].length;
  return readFlags(found[1], modes);
}

/** `m` and `u` are always on. */
function readFlags(flags: string, modes: PatternReading["modes"]): PatternReading["modes"] {
  const [on = "", off = ""] = flags.split("-");
  const strange = /[^imsu]/.exec(on) ?? /[^is]/.exec(off);
  if (strange) throw new PatternError(`the flag '${strange[0]}' is not supported`);
  const set = (letter: string, before: boolean): boolean => (off.includes(letter) ? false : before || on.includes(letter));
  return { ignoreCase: set("i", modes.ignoreCase), dotAll: set("s", modes.dotAll) };
}
