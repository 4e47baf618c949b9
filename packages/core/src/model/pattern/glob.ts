import { PatternError } from "./error.ts";

/** A compiled glob, anchored at both ends; it compares code points in NFC. */
export type Glob = {
  readonly text: string;
  readonly matches: (value: string) => boolean;
  /** How many comparisons a match takes: at most (pattern length + 1) × (value length + 1). */
  readonly steps: (value: string) => number;
  /** The unescaped text, if the glob is plain text with at most one star, at its end. */
  readonly plain: { readonly text: string; readonly star: boolean } | undefined;
};

/** Compiles `*`, `?`, `[a-z]`, `[!a]` and `\x` into a matcher that backtracks to its last star only. Throws `PatternError`. */
export function compileGlob(text: string, options: { readonly caseSensitive?: boolean } = {}): Glob {
  const fold = options.caseSensitive ? composed : folded;
  const written = readGlob(text.normalize("NFC"));
  const program = options.caseSensitive ? written : foldProgram(written);
  const plain = plainOf(written.tokens);
  const literal = plain && fold(plain.text);
  return {
    text: text.normalize("NFC"),
    matches: (value) => {
      if (literal === undefined) return walk(program, pointsOf(fold(value))).matched;
      return plain?.star ? fold(value).startsWith(literal) : fold(value) === literal;
    },
    steps: (value) => walk(program, pointsOf(fold(value))).steps,
    plain,
  };
}

const STAR = -1;
const ANY = -2;
const END = Number.NEGATIVE_INFINITY;
/** The class at index i is the token `CLASS - i`. */
const CLASS = -3;

type Class = { readonly negated: boolean; readonly holds: (point: number) => boolean; readonly singles: readonly number[] };

/** A non-negative token is the code point to match. */
type Program = {
  readonly tokens: readonly number[];
  readonly classes: readonly Class[];
  /** The index of a trailing star, which takes the rest of the value; -1 without one. */
  readonly openEnd: number;
};

function readGlob(text: string): Program {
  const tokens: number[] = [];
  const classes: Class[] = [];
  for (let i = 0; i < text.length; ) {
    if (text[i] === "[") {
      const end = endOfClass(text, i + 1);
      tokens.push(CLASS - classes.length);
      classes.push(readClass(text, i + 1, end));
      i = end + 1;
    } else {
      const { point, next } = memberAt(text, i);
      tokens.push(text[i] === "*" ? STAR : text[i] === "?" ? ANY : point);
      i = next;
    }
  }
  const single = tokens.filter((token, i) => token !== STAR || tokens[i - 1] !== STAR);
  return { tokens: single, classes, openEnd: single.at(-1) === STAR ? single.length - 1 : -1 };
}

/** The index of the bracket that closes the class starting at `start`. */
function endOfClass(text: string, start: number): number {
  for (let i = start; i < text.length; i++) {
    if (text[i] === "]") return i;
    if (text[i] === "\\") i++;
  }
  throw new PatternError({ text, problem: "unclosed class", column: start });
}

function readClass(text: string, start: number, end: number): Class {
  const negated = text[start] === "!";
  const ranges: (readonly [number, number])[] = [];
  for (let i = negated ? start + 1 : start; i < end; ) {
    const low = memberAt(text, i);
    i = low.next;
    const isRange = text[i] === "-" && i + 1 < end;
    const high = isRange ? memberAt(text, i + 1) : low;
    if (high.point < low.point) throw new PatternError({ text, problem: "range that ends before it starts", column: i });
    i = high.next;
    ranges.push([low.point, high.point]);
  }
  if (ranges.length === 0) throw new PatternError({ text, problem: "empty class", column: start });
  return {
    negated,
    holds: (point) => ranges.some(([low, high]) => low <= point && point <= high),
    singles: ranges.flatMap(([low, high]) => (low === high ? [low] : [])),
  };
}

/** The character at an index, unescaped, and the index after it. */
function memberAt(text: string, index: number): { readonly point: number; readonly next: number } {
  const start = text[index] === "\\" ? index + 1 : index;
  const point = text.codePointAt(start);
  if (point === undefined) throw new PatternError({ text, problem: "dangling '\\'", column: start });
  return { point, next: start + (point > 0xffff ? 2 : 1) };
}

function plainOf(tokens: readonly number[]): Glob["plain"] {
  const star = tokens.at(-1) === STAR;
  const literals = star ? tokens.slice(0, -1) : tokens;
  if (literals.some((token) => token < 0)) return undefined;
  return { text: literals.map((point) => String.fromCodePoint(point)).join(""), star };
}

/** On a mismatch only the last star takes one more character, so each token meets each character at most once. */
function walk({ tokens, classes, openEnd }: Program, points: readonly number[]): { readonly matched: boolean; readonly steps: number } {
  let steps = 0;
  let star = -1;
  let mark = 0;
  let t = 0;
  for (let v = 0; v < points.length && t !== openEnd; steps++) {
    const token = tokens[t] ?? END;
    if (token === STAR) {
      star = ++t;
      mark = v;
    } else if (accepts(token, points[v] ?? 0, classes)) {
      t++;
      v++;
    } else if (star === -1) return { matched: false, steps };
    else {
      t = star;
      v = ++mark;
    }
  }
  return { matched: t === tokens.length || t === openEnd, steps };
}

function accepts(token: number, point: number, classes: readonly Class[]): boolean {
  if (token >= 0) return token === point;
  if (token === ANY) return true;
  const set = classes[CLASS - token];
  return set !== undefined && set.holds(point) !== set.negated;
}

function foldProgram({ tokens, classes, openEnd }: Program): Program {
  return {
    openEnd,
    tokens: tokens.map((token) => (token < 0 ? token : foldPoint(token))),
    classes: classes.map(({ negated, holds, singles }) => {
      const foldedSingles = new Set(singles.map(foldPoint));
      return { negated, singles, holds: (point) => holds(point) || holds(upperPoint(point)) || foldedSingles.has(point) };
    }),
  };
}

const NOT_ASCII = /[\u0080-\uffff]/;

function composed(text: string): string {
  return NOT_ASCII.test(text) ? text.normalize("NFC") : text;
}

function folded(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  let out = "";
  for (const character of text.normalize("NFC")) out += foldCharacter(character);
  return out;
}

/** Upper, then lower case where each is one character: `ſ` becomes `s`, and the length never changes. */
function foldCharacter(character: string): string {
  const lower = upperCharacter(character).toLowerCase();
  return isOne(lower) ? lower : character;
}

function upperCharacter(character: string): string {
  const upper = character.toUpperCase();
  return isOne(upper) ? upper : character;
}

function isOne(text: string): boolean {
  return text.length === 1 || (text.length === 2 && pointOf(text) > 0xffff);
}

function foldPoint(point: number): number {
  return pointOf(foldCharacter(String.fromCodePoint(point)));
}

function upperPoint(point: number): number {
  return pointOf(upperCharacter(String.fromCodePoint(point)));
}

function pointOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function pointsOf(text: string): readonly number[] {
  const points: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i) ?? 0;
    if (point > 0xffff) i++;
    points.push(point);
  }
  return points;
}
