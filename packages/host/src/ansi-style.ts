import type { Display } from "@assent/core";

export type AnsiRun = Extract<Display, { readonly type: "ansi_output" }>["ansiOutput"][number][number];

/** A text style; a color is `#rrggbb`, or empty for the terminal's default. */
export type AnsiStyle = Omit<AnsiRun, "text">;

export const PLAIN: AnsiStyle = { bold: false, italic: false, underline: false, dim: false, inverse: false, fg: "", bg: "" };

/** Codes without parameters. Hidden text is shown, so that nothing is hidden from the person. */
const SIMPLE: Readonly<Record<number, Partial<AnsiStyle>>> = {
  0: PLAIN,
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  39: { fg: "" },
  49: { bg: "" },
};

/** Applies a sequence that ends in `m`, ignoring unknown codes. */
export function applyStyle(style: AnsiStyle, parameters: string): AnsiStyle {
  const codes = parameters.split(";");
  let now = style;
  for (let i = 0; i < codes.length; ) {
    const { change, taken } = changeAt(codes, i);
    now = { ...now, ...change };
    i += taken;
  }
  return now;
}

/** Underline colors are parsed but not shown. */
const EXTENDED = new Set([38, 48, 58]);

function changeAt(codes: readonly string[], at: number): { readonly change: Partial<AnsiStyle>; readonly taken: number } {
  const [first = "", ...sub] = (codes[at] ?? "").split(":");
  const code = Number(first);
  if (!EXTENDED.has(code)) return { change: code === 4 && sub[0] === "0" ? { underline: false } : simpleChange(code), taken: 1 };
  if (sub.length > 0) return { change: colorChange(code, readColor(withoutSpace(sub))), taken: 1 };
  const taken = codes[at + 1] === "2" ? 5 : codes[at + 1] === "5" ? 3 : 1;
  return { change: colorChange(code, readColor(codes.slice(at + 1))), taken };
}

function simpleChange(code: number): Partial<AnsiStyle> {
  if (code >= 30 && code <= 37) return { fg: paletteColor(code - 30) };
  if (code >= 40 && code <= 47) return { bg: paletteColor(code - 40) };
  if (code >= 90 && code <= 97) return { fg: paletteColor(code - 82) };
  if (code >= 100 && code <= 107) return { bg: paletteColor(code - 92) };
  return SIMPLE[code] ?? {};
}

function colorChange(code: number, found: string | undefined): Partial<AnsiStyle> {
  if (found === undefined || code === 58) return {};
  return code === 38 ? { fg: found } : { bg: found };
}

/** `2:SPACE:R:G:B` has a color space, `2:R:G:B` has not. */
function withoutSpace(parts: readonly string[]): readonly string[] {
  return parts[0] === "2" && parts.length > 4 ? ["2", ...parts.slice(2)] : parts;
}

function readColor([kind, ...numbers]: readonly string[]): string | undefined {
  const values = numbers.slice(0, kind === "2" ? 3 : 1).map(Number);
  if (values.some((value) => !Number.isInteger(value) || value < 0 || value > 255)) return undefined;
  if (kind === "5" && values.length === 1) return paletteColor(values[0] ?? 0);
  return kind === "2" && values.length === 3 ? formatHex(values) : undefined;
}

function paletteColor(index: number): string {
  if (index < 16) return NAMED[index] ?? "";
  if (index >= 232) return formatHex(Array.from({ length: 3 }, () => 8 + (index - 232) * 10));
  const place = index - 16;
  return formatHex([Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6].map((step) => (step === 0 ? 0 : 55 + step * 40)));
}

const NAMED = (
  "#000000 #800000 #008000 #808000 #000080 #800080 #008080 #c0c0c0 " + "#808080 #ff0000 #00ff00 #ffff00 #0000ff #ff00ff #00ffff #ffffff"
).split(" ");

function formatHex(values: readonly number[]): string {
  return `#${values.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
