import type { Display } from "@assent/core";
import { characterWidth, visible } from "@assent/core/text";
import type { Canvas } from "./dialog.ts";

type AnsiRun = Extract<Display, { readonly type: "ansi_output" }>["ansiOutput"][number][number];

/** Draws one line of terminal output with our own color codes; its text contains none. */
export function drawAnsi(runs: readonly AnsiRun[], { columns, theme }: Canvas): string {
  const isPlain = theme.bold("x") === "x";
  let room = columns;
  let line = "";
  for (const run of runs) {
    const text = fitting(visible(run.text).replaceAll("\n", " ").replaceAll("\t", "    "), room);
    room -= text.width;
    line += isPlain ? text.text : paintRun(run, text.text);
    if (room <= 0) break;
  }
  return line;
}

function fitting(text: string, room: number): { readonly text: string; readonly width: number } {
  let width = 0;
  let end = 0;
  for (const character of text) {
    const more = characterWidth(character);
    if (width + more > room) break;
    width += more;
    end += character.length;
  }
  return { text: text.slice(0, end), width };
}

const COLOUR = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i;

function paintRun({ bold, italic, underline, dim, inverse, fg, bg }: AnsiRun, text: string): string {
  if (text === "") return "";
  const codes = [bold && "1", dim && "2", italic && "3", underline && "4", inverse && "7", colorCode("38", fg), colorCode("48", bg)].filter(
    Boolean,
  );
  return codes.length === 0 ? text : `\u001b[${codes.join(";")}m${text}\u001b[0m`;
}

function colorCode(which: string, value: string): string | undefined {
  const match = COLOUR.exec(value);
  if (!match) return undefined;
  const [red = 0, green = 0, blue = 0] = match.slice(1).map((part) => Number.parseInt(part, 16));
  const named = NAMED.indexOf(value.toLowerCase());
  return `${which};5;${named !== -1 ? named : 16 + 36 * step(red) + 6 * step(green) + step(blue)}`;
}

const NAMED =
  "#000000 #800000 #008000 #808000 #000080 #800080 #008080 #c0c0c0 #808080 #ff0000 #00ff00 #ffff00 #0000ff #ff00ff #00ffff #ffffff".split(
    " ",
  );

function step(value: number): number {
  return value < 48 ? 0 : value < 115 ? 1 : Math.min(5, Math.floor((value - 35) / 40));
}
