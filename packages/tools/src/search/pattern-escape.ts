import { type Cursor, PatternError, type PatternReading } from "./pattern-cursor.ts";

const WORD = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";

const CLASSES: Readonly<Record<string, string>> = {
  d: "\\p{Nd}",
  D: "\\P{Nd}",
  s: "\\p{White_Space}",
  S: "\\P{White_Space}",
  w: WORD,
  W: `[^${WORD}]`,
};

const BEGINS = `(?<![${WORD}])(?=[${WORD}])`;
const ENDS = `(?<=[${WORD}])(?![${WORD}])`;

/** Assertions such as word boundaries. */
const PLACES: Readonly<Record<string, string>> = {
  "b{start}": `(?:${BEGINS})`,
  "b{end}": `(?:${ENDS})`,
  "b{start-half}": `(?:(?<![${WORD}]))`,
  "b{end-half}": `(?:(?![${WORD}]))`,
  b: `(?:${BEGINS}|${ENDS})`,
  B: `(?:(?<=[${WORD}])(?=[${WORD}])|(?<![${WORD}])(?![${WORD}]))`,
  "<": `(?:${BEGINS})`,
  ">": `(?:${ENDS})`,
  A: "(?<![^])",
  z: "(?![^])",
};

const CONTROLS: Readonly<Record<string, number>> = { a: 0x07, f: 0x0c, t: 0x09, n: 0x0a, r: 0x0d, v: 0x0b };

/** Reads an escape outside of a class. */
export function readEscape(reading: PatternReading): string {
  const { cursor, multiline } = reading;
  const rest = cursor.text.slice(cursor.at + 1, cursor.at + 20);
  const place = Object.keys(PLACES).find((name) => rest.startsWith(name));
  if (place !== undefined) {
    cursor.at += 1 + place.length;
    return PLACES[place] ?? "";
  }
  const at = cursor.at;
  const found = readMember(cursor);
  if (typeof found === "string") return `[${found}]`;
  if (found === 0x0a && !multiline) throw new PatternError("line breaks match only with multiline", at);
  return quoteCharacter(found);
}

/** Returns a code point, or a class as class members. The cursor is at the backslash. */
export function readMember(cursor: Cursor): number | string {
  const { text, at } = cursor;
  const letter = text[at + 1];
  if (letter === undefined) throw new PatternError("the pattern ends with a backslash", at);
  const known = CLASSES[letter];
  if (known !== undefined) {
    cursor.at += 2;
    return known;
  }
  if (letter === "p" || letter === "P") return readProperty(cursor);
  const control = CONTROLS[letter];
  if (control !== undefined || /[^0-9A-Za-z<>\u0080-\uffff]/.test(letter)) {
    cursor.at += 2;
    return control ?? letter.charCodeAt(0);
  }
  return readNumber(cursor);
}

export function quoteCharacter(point: number): string {
  const character = String.fromCodePoint(point);
  return /[A-Za-z0-9]/.test(character) ? character : `\\u{${point.toString(16)}}`;
}

const NUMBER = /^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|[xuU]\{([0-9a-fA-F]{1,6})\})/;

function readNumber(cursor: Cursor): number {
  const { text, at } = cursor;
  const found = NUMBER.exec(text.slice(at, at + 12));
  const digits = found?.slice(1).find((one) => one !== undefined);
  const point = digits === undefined ? -1 : Number.parseInt(digits, 16);
  if (!found || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
    const what = /^\\\d/.test(text.slice(at, at + 2)) ? "backreferences are not supported" : `'${text.slice(at, at + 2)}' is not known`;
    throw new PatternError(what, at);
  }
  cursor.at += found[0].length;
  return point;
}

const PROPERTY = /^\\([pP])(?:([A-Za-z])|\{(\^?)([\w =:.-]+)\})/;

/** `\pL`, `\p{Greek}`, `\p{^Greek}`, `\p{Script=Greek}`. */
function readProperty(cursor: Cursor): string {
  const { text, at } = cursor;
  const found = PROPERTY.exec(text.slice(at, at + 80));
  if (!found) throw new PatternError("a character property is incomplete", at);
  const [all, letter, short, not, long] = found;
  const name = (short ?? long ?? "").replace(/[:=]/, "=").trim();
  const isNot = (letter === "P") !== (not === "^");
  const spelling = [name, `Script=${name}`, `General_Category=${name}`, capitalize(name), `Script=${capitalize(name)}`].find(isProperty);
  if (spelling === undefined) throw new PatternError(`the property '${name}' is not known`, at);
  cursor.at += all.length;
  return `\\${isNot ? "P" : "p"}{${spelling}}`;
}

function capitalize(name: string): string {
  return name.replace(/(^|[_=])([a-z])/g, (_, before: string, first: string) => before + first.toUpperCase());
}

function isProperty(spelling: string): boolean {
  try {
    new RegExp(`\\p{${spelling}}`, "v");
    return true;
  } catch {
    return false; // try the next spelling
  }
}
