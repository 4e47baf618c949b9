import type { Hazard } from "../plan/plan.ts";

/** Finds characters that hide or disguise text, and long gaps. */
export function characterHazards(text: string): readonly Hazard[] {
  if (!SUSPECT.test(text)) return NONE;
  const found: Hazard[] = [];
  for (const match of text.matchAll(NOT_PLAIN)) {
    const [character] = match;
    const id = hazardIdOf(character);
    if (id && found.length < MOST)
      found.push({
        id,
        text: `Contains the ${id === "control_character" ? "control" : "hidden"} character ${codePointName(character)}`,
        at: [match.index, match.index + character.length],
      });
  }
  const gap = GAP.test(text) ? findGap(text) : undefined;
  if (gap) found.push({ id: "hidden_character", text: "A long gap can hide what follows it", at: gap });
  return found;
}

const NONE: readonly Hazard[] = [];
const MOST = 20;

/** Nearly every command passes this one test. */
const SUSPECT = /[^\t\n\x20-\x7e]|[ \t]{41}|(?:^|\n)(?:[ \t]*\n){11}/;
const GAP = /[ \t]{41}|(?:^|\n)(?:[ \t]*\n){11}/;
const NOT_PLAIN = /[^\t\n\x20-\x7e]/gu;

const CONTROLS: readonly Range[] = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
];

/** Invisible, zero-width, or changing the text direction. */
const HIDDEN: readonly Range[] = [
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x2064],
  [0x2066, 0x2069],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xe0000, 0xe0fff],
];

type Range = readonly [first: number, last: number];

const BLANK = /\s/;

function hazardIdOf(character: string): Hazard["id"] | undefined {
  const point = character.codePointAt(0) ?? 0;
  const isIn = ([first, last]: Range): boolean => first <= point && point <= last;
  if (CONTROLS.some(isIn)) return "control_character";
  return HIDDEN.some(isIn) || BLANK.test(character) ? "hidden_character" : undefined;
}

function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function findGap(text: string): readonly [start: number, end: number] | undefined {
  const pieces = /\\.|'[^']*'|"(?:[^"\\]|\\.)*"|[ \t]{41,}|(?<=^|\n)(?:[ \t]*\n){11,}|[^\\'" \t\n]+|[\s\S]/gsu;
  for (const { 0: piece, index } of text.matchAll(pieces)) {
    if (/^[ \t]{41}|^[ \t]*\n[ \t]*\n/.test(piece)) return [index, index + piece.length];
  }
  return undefined;
}
