import type { Hazard } from "./plan.ts";

/** Characters that hide or disguise text, wherever they stand, and long gaps that push text out of sight. */
export function characterHazards(text: string): readonly Hazard[] {
  if (!SUSPECT.test(text)) return NONE;
  const found: Hazard[] = [];
  for (const match of text.matchAll(NOT_PLAIN)) {
    const [character] = match;
    const id = kindOf(character);
    if (id && found.length < MOST) found.push({ id, text: `the character ${nameOf(character)}`, at: [match.index, match.index + character.length] });
  }
  const gap = GAP.test(text) ? gapAt(text) : undefined;
  if (gap) found.push({ id: "hidden_character", text: "a long gap can hide what follows it", at: gap });
  return found;
}

const NONE: readonly Hazard[] = [];
/** Enough to show; more say nothing new. */
const MOST = 20;

/** One test for what nearly every command passes. */
const SUSPECT = /[^\t\n\x20-\x7e]|[ \t]{41}|(?:^|\n)(?:[ \t]*\n){11}/;
const GAP = /[ \t]{41}|(?:^|\n)(?:[ \t]*\n){11}/;
const NOT_PLAIN = /[^\t\n\x20-\x7e]/gu;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
const HIDDEN =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\u3164\ufe00-\ufe0f\ufeff\uffa0\u{e0000}-\u{e0fff}]/u;
const BLANK = /\s/;

function kindOf(character: string): Hazard["id"] | undefined {
  if (CONTROL.test(character)) return "control_character";
  return HIDDEN.test(character) || BLANK.test(character) ? "hidden_character" : undefined;
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The first long gap outside quotes. */
function gapAt(text: string): readonly [start: number, end: number] | undefined {
  const pieces = /\\.|'[^']*'|"(?:[^"\\]|\\.)*"|[ \t]{41,}|(?<=^|\n)(?:[ \t]*\n){11,}|[^\\'" \t\n]+|[\s\S]/gsu;
  for (const { 0: piece, index } of text.matchAll(pieces)) {
    if (/^[ \t]{41}|^[ \t]*\n[ \t]*\n/.test(piece)) return [index, index + piece.length];
  }
  return undefined;
}
