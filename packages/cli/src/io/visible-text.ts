import { visible } from "@assent/core/text";

export { oneLine, visible } from "@assent/core/text";

const BLANKS = /[ \t]{41,}/g;
const EMPTY_LINES = /\n(?:[ \t]*\n){11,}/g;

/** Replaces long runs of blanks and empty lines, which could push text out of sight. */
export function markGaps(text: string): string {
  return text
    .replace(EMPTY_LINES, (run) => `\n«${run.split("\n").length - 2} empty lines»\n`)
    .replace(BLANKS, (run) => `«${run.length} blanks»`);
}

/** Text for a terminal: shows characters that move the cursor, and replaces a tab with four spaces. */
export function readable(text: string): string {
  return visible(text).replaceAll("\t", "    ");
}

/** `1 rule`, `2 rules`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
