import { type Cursor, PatternError, type PatternReading } from "./pattern-cursor.ts";
import { quoteCharacter, readMember } from "./pattern-escape.ts";

/** POSIX classes such as `[:alpha:]`. */
const NAMED: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\u{0}-\\u{7f}",
  blank: "\\u{9}\\u{20}",
  cntrl: "\\u{0}-\\u{1f}\\u{7f}",
  digit: "0-9",
  graph: "\\u{21}-\\u{7e}",
  lower: "a-z",
  print: "\\u{20}-\\u{7e}",
  punct: "\\u{21}-\\u{2f}\\u{3a}-\\u{40}\\u{5b}-\\u{60}\\u{7b}-\\u{7e}",
  space: "\\u{9}-\\u{d}\\u{20}",
  upper: "A-Z",
  word: "0-9A-Za-z\\u{5f}",
  xdigit: "0-9A-Fa-f",
};

const OPERATORS: readonly string[] = ["&&", "--", "~~"];
const DEEPEST = 50;

/** Reads a character class with nested classes and set operators. The cursor is at its bracket. */
export function readClass({ cursor }: Pick<PatternReading, "cursor">, depth = 0): string {
  const start = cursor.at++;
  if (depth > DEEPEST) throw new PatternError(`classes are nested more than ${DEEPEST} deep`, start);
  const isNot = cursor.text[cursor.at] === "^";
  if (isNot) cursor.at++;
  let whole: string | undefined;
  let operator = "";
  let members = cursor.text[cursor.at] === "]" ? readClassMember(cursor, depth) : "";
  for (; cursor.text[cursor.at] !== "]"; ) {
    if (cursor.at >= cursor.text.length) throw new PatternError("a class is not closed", start);
    const found = OPERATORS.find((one) => cursor.text.startsWith(one, cursor.at));
    if (found === undefined) members += readClassMember(cursor, depth);
    else {
      whole = combineClasses({ left: whole, operator, members, start });
      cursor.at += 2;
      operator = found;
      members = "";
    }
  }
  cursor.at++;
  whole = combineClasses({ left: whole, operator, members, start });
  return isNot ? `[^${whole}]` : whole;
}

type Operands = { readonly left: string | undefined; readonly operator: string; readonly members: string; readonly start: number };

/** Operators apply from left to right with equal precedence, as in Rust. */
function combineClasses({ left, operator, members, start }: Operands): string {
  if (members === "") throw new PatternError("a class is empty", start);
  const right = `[${members}]`;
  if (left === undefined) return right;
  return operator === "~~" ? `[[${left}--${right}][${right}--${left}]]` : `[${left}${operator}${right}]`;
}

function readClassMember(cursor: Cursor, depth: number): string {
  const { text, at } = cursor;
  const named = /^\[:(\^?)([a-z]+):\]/.exec(text.slice(at, at + 16));
  if (named) return namedClass(cursor, named);
  if (text[at] === "[") return readClass({ cursor }, depth + 1);
  const first = readOne(cursor);
  if (typeof first === "string") return first;
  const isRange = text[cursor.at] === "-" && !/[-\]]/.test(text[cursor.at + 1] ?? "]");
  if (!isRange) return quoteCharacter(first);
  cursor.at++;
  const last = readOne(cursor);
  if (typeof last === "string" || last < first) throw new PatternError("a range in a class ends before it starts", at);
  return `${quoteCharacter(first)}-${quoteCharacter(last)}`;
}

function namedClass(cursor: Cursor, [all, not, name = ""]: RegExpExecArray): string {
  const members = NAMED[name];
  if (members === undefined) throw new PatternError(`the class '${name}' is not known`, cursor.at);
  cursor.at += all.length;
  return not ? `[^${members}]` : members;
}

function readOne(cursor: Cursor): number | string {
  const { text, at } = cursor;
  if (text[at] === "\\") return readMember(cursor);
  const point = text.codePointAt(at);
  if (point === undefined) throw new PatternError("a class is not closed", at);
  cursor.at += point > 0xffff ? 2 : 1;
  return point;
}
