import { characterWidth, displayWidth } from "@assent/core/text";

export { cutToWidth as cut, displayWidth } from "@assent/core/text";

/** The longest text of one row in a list. */
export const LIST_WIDTH = 200;

export function wrap(text: string, columns: number): string[] {
  return text.split("\n").flatMap((line) => breakLine(line, Math.max(columns, 1)));
}

/** Like `wrap`, but breaks at spaces if possible. */
export function wrapWords(text: string, columns: number): string[] {
  if (columns === Number.POSITIVE_INFINITY) return text.split("\n");
  return text.split("\n").flatMap((line) => {
    const lines: string[] = [];
    let at = "";
    for (const word of line.split(/(?<= )(?=[^ ])/)) {
      if (at !== "" && displayWidth((at + word).trimEnd()) > columns) {
        lines.push(at.trimEnd());
        at = "";
      }
      at += word;
    }
    return [...lines, at].flatMap((piece) => wrap(piece, columns));
  });
}

/** Marks rows of foreign text; none of our own rows begins with it. */
export const TEXT_MARK = "│ ";

/** Foreign text as rows; if there are several, each is marked. */
export function quoted(text: string, columns: number): string[] {
  const rows = wrap(text, columns - TEXT_MARK.length);
  return rows.map((row) => `${rows.length > 1 ? TEXT_MARK : "  "}${row}`);
}

/** Our own words followed by foreign text; rows after the first are marked. */
export function quotedAfter(own: string, text: string, columns: number): string[] {
  return wrapWords(`${own}${text}`, columns - TEXT_MARK.length).map((row, at) => (at === 0 ? row : `${TEXT_MARK}${row}`));
}

/** Linear, because a request may be a single line of megabytes. */
function breakLine(line: string, columns: number): string[] {
  const pieces: string[] = [];
  let start = 0;
  let end = 0;
  let width = 0;
  for (const character of line) {
    const more = characterWidth(character);
    if (width + more > columns && end > start) {
      pieces.push(line.slice(start, end));
      start = end;
      width = 0;
    }
    end += character.length;
    width += more;
  }
  return [...pieces, line.slice(start)];
}
