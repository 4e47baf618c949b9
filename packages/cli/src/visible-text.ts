/** Characters that move the cursor, reorder, hide or pass for a blank: shown as escapes wherever a person reads them. Tab and newline are left alone. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u2064\u2066-\u206f\u3000\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** The text with everything a terminal would act on, or a reader could not see, as `\x1b` or `\u{202e}`. Lines stay lines. */
export function visible(text: string): string {
  return text.replace(HIDDEN, escaped);
}

/** `visible` on one line: newlines and tabs are escaped too. */
export function oneLine(text: string): string {
  return visible(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x0d) return "\\r";
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

const BLANKS = /[ \t]{41,}/g;
const EMPTY_LINES = /\n(?:[ \t]*\n){11,}/g;

/** Marks and counts runs of blanks and empty lines, which could push the rest of a text out of sight. */
export function markGaps(text: string): string {
  return text
    .replace(EMPTY_LINES, (run) => `\n«${run.split("\n").length - 2} empty lines»\n`)
    .replace(BLANKS, (run) => `«${run.length} blanks»`);
}
