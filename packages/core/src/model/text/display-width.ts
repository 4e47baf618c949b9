import { unicodePattern } from "./unicode-pattern.ts";

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{1fa70}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const combining = unicodePattern(String.raw`\p{M}`, "u");
const PLAIN = /^[\x20-\x7e]*$/;

/** The width of a line in terminal columns. */
export function displayWidth(line: string): number {
  if (PLAIN.test(line)) return line.length;
  let width = 0;
  for (const character of line) width += characterWidth(character);
  return width;
}

function fitColumns(line: string, columns: number): string {
  if (PLAIN.test(line)) return line.slice(0, columns);
  let width = 0;
  let end = 0;
  for (const character of line) {
    width += characterWidth(character);
    if (width > columns) break;
    end += character.length;
  }
  return line.slice(0, end);
}

/** Cuts a line to a width, ending with an ellipsis. */
export function cutToWidth(line: string, columns: number): string {
  return displayWidth(line) <= columns ? line : `${fitColumns(line, Math.max(columns - 1, 0))}…`;
}

/** The width of a character in terminal columns. */
export function characterWidth(character: string): number {
  if (character >= " " && character <= "~") return 1;
  if (combining().test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
