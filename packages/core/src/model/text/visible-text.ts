import { unicodePattern } from "./unicode-pattern.ts";

/**
 * Characters that move the cursor, reorder, hide or pass for a blank; escaped wherever people read them, except tab and
 * newline.
 */
const hidden = unicodePattern(String.raw`(?![\t\n ])[\p{Cc}\p{Cf}\p{Cs}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`, "gu");
const controls = unicodePattern(String.raw`[^\P{Cc}\n\t]`, "gu");

/** Escapes everything a terminal would act on or a reader could not see, as `\x1b` or `\u{202e}`; keeps newlines. */
export function visible(text: string): string {
  return text.replace(hidden(), escaped);
}

/** Like `visible`, but on one line: newlines and tabs are escaped too. */
export function oneLine(text: string): string {
  return visible(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** Removes control characters, for text that programs wrote for a terminal; keeps newlines. */
export function printable(text: string): string {
  return text.replaceAll(controls(), "");
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x0d) return "\\r";
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}
