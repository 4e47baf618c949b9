import { unicodePattern } from "./unicode-pattern.ts";

/** Characters that move the cursor, reorder, hide or look like a blank. */
const hidden = unicodePattern(String.raw`(?![\t\n ])[\p{Cc}\p{Cf}\p{Cs}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`, "gu");
const controls = unicodePattern(String.raw`[^\P{Cc}\n\t]`, "gu");

/** Most texts; compiling the Unicode pattern takes a millisecond. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;

/** Escapes characters that a terminal would act on or a reader could not see; keeps newlines. */
export function visible(text: string): string {
  return PLAIN.test(text) ? text : text.replace(hidden(), escapeCharacter);
}

/** Like `visible`, and escapes newlines and tabs. */
export function oneLine(text: string): string {
  return visible(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** Removes control characters except newlines. */
export function printable(text: string): string {
  return text.replaceAll(controls(), "");
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x0d) return "\\r";
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}
