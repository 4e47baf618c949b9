import { dynamicWord, literalWord, type ShellWord } from "./bash-tree.ts";
import { isReserved } from "./shell-builtins.ts";

/** The commands that unparsable text may contain: its parts between newlines and operators, as words. Unclosed quotes are ignored. */
export function splitTolerant(text: string): readonly (readonly ShellWord[])[] {
  const commands: ShellWord[][] = [];
  const texts = [text];
  for (let next = texts.pop(); next !== undefined; next = texts.pop()) {
    const cursor: TolerantCursor = { text: next, at: 0, inner: texts, operators: true };
    while (cursor.at < next.length) {
      const words = withoutReserved(readWords(cursor));
      if (words.length > 0) commands.push(words);
    }
  }
  return commands;
}

/** Splits a text like `env -S`. */
export function splitBlanks(text: string): readonly ShellWord[] {
  return readWords({ text: text.replaceAll("\\_", " "), at: 0, inner: [], operators: false });
}

type TolerantCursor = {
  readonly text: string;
  at: number;
  /** Double-quoted texts with commands of their own. */
  readonly inner: string[];
  readonly operators: boolean;
};

function withoutReserved(words: readonly ShellWord[]): ShellWord[] {
  const first = words.findIndex(({ value, word }) => !isReserved(value) && (word.dynamic || !/^[A-Za-z_]\w*\+?=/.test(value)));
  return first === -1 ? [] : words.slice(first);
}

function readWords(cursor: TolerantCursor): ShellWord[] {
  const words: ShellWord[] = [];
  while (cursor.at < cursor.text.length) {
    const character = cursor.text[cursor.at] ?? "";
    if (cursor.operators && isOperator(cursor)) {
      cursor.at++;
      break;
    }
    if (BLANK.test(character)) cursor.at++;
    else if (cursor.operators && character === "#") cursor.at = lineEnd(cursor);
    else words.push(readWord(cursor));
  }
  return words;
}

const BLANK = /[\s<>]/;

function isOperator({ text, at }: TolerantCursor): boolean {
  const character = text[at] ?? "";
  return "\n;&|()`".includes(character) || (character === "$" && text[at + 1] === "(");
}

function lineEnd({ text, at }: TolerantCursor): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

function readWord(cursor: TolerantCursor): ShellWord {
  const start = cursor.at;
  let value = "";
  let dynamic = cursor.text[start] === "~";
  while (cursor.at < cursor.text.length) {
    const character = cursor.text[cursor.at] ?? "";
    if (BLANK.test(character) || (cursor.operators && isOperator(cursor))) break;
    const piece = readPiece(cursor, character);
    value += piece.value;
    dynamic ||= piece.dynamic;
  }
  return dynamic ? dynamicWord(cursor.text.slice(start, cursor.at), value) : literalWord(value);
}

type WordPiece = { readonly value: string; readonly dynamic: boolean };

function readPiece(cursor: TolerantCursor, character: string): WordPiece {
  const { text, at } = cursor;
  if (character === "\\") {
    cursor.at += 2;
    return { value: text[at + 1] === "\n" ? "" : (text[at + 1] ?? ""), dynamic: false };
  }
  const end = character === "'" ? text.indexOf("'", at + 1) : character === '"' ? findClosingQuote(text, at + 1) : -1;
  if (end !== -1) return readQuoted(cursor, character, end);
  cursor.at++;
  if (character === "'" || character === '"') return { value: "", dynamic: false };
  return { value: character, dynamic: "$`*?[{".includes(character) };
}

function readQuoted(cursor: TolerantCursor, quote: string, end: number): WordPiece {
  const inside = cursor.text.slice(cursor.at + 1, end);
  cursor.at = end + 1;
  if (quote === "'") return { value: inside, dynamic: false };
  if (cursor.operators && /\$\(|`/.test(inside)) cursor.inner.push(inside);
  return { value: inside.replace(/\\(["\\$`])/g, "$1"), dynamic: /[$`]/.test(inside) };
}

function findClosingQuote(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === '"') return i;
    if (text[i] === "\\") i++;
  }
  return -1;
}
