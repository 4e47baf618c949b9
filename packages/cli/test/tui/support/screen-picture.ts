import type { Cell, Colour } from "./screen.ts";

const CELL_WIDTH = 8.43;
const CELL_HEIGHT = 19;
const FONT_SIZE = 14;
const MARGIN = 16;
const GROUND = "#1b1d23";
const FRONT = "#dfe2e7";

/** The first sixteen colours, which every terminal chooses for itself. */
const SIXTEEN: readonly string[] =
  "#2e3138 #e06c75 #98c379 #d9b26f #61afef #c678dd #56b6c2 #c8ccd4 #6b717d #ef8a92 #b3d99a #ecca8b #86c5f9 #dba1ea #7fd0da #ffffff".split(
    " ",
  );
const STEPS = [0, 95, 135, 175, 215, 255] as const;

/** A screen as a picture: text that can be read, searched and enlarged. */
export function screenPicture(rows: readonly (readonly Cell[])[], title: string): string {
  const used = rows.slice(0, rows.findLastIndex((row) => row.some(isInk)) + 1);
  const columns = Math.max(...rows.map((row) => row.length));
  const width = Math.ceil(columns * CELL_WIDTH + 2 * MARGIN);
  const height = Math.ceil(used.length * CELL_HEIGHT + 2 * MARGIN);
  const lines = used.flatMap((row, at) => rowMarks(row, MARGIN + at * CELL_HEIGHT));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="DejaVu Sans Mono, ui-monospace, Menlo, Consolas, monospace" font-size="${FONT_SIZE}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${GROUND}"/>`,
    ...lines,
    "</svg>\n",
  ].join("\n");
}

type Run = { readonly column: number; readonly columns: number; readonly text: string; readonly cell: Cell };

function rowMarks(row: readonly Cell[], top: number): readonly string[] {
  const runs = runsOf(row);
  const grounds = runs.flatMap(({ column, columns, cell }) => {
    const ground = colours(cell).ground;
    return ground === GROUND
      ? []
      : [
          `<rect x="${left(column)}" y="${top}" width="${round(columns * CELL_WIDTH)}" height="${CELL_HEIGHT}" fill="${ground}" shape-rendering="crispEdges"/>`,
        ];
  });
  return [...grounds, ...runs.filter(({ text }) => text.trim() !== "").map((run) => textMark(run, top))];
}

function textMark({ column, columns, text, cell }: Run, top: number): string {
  const look = [
    `fill="${colours(cell).front}"`,
    ...(cell.bold ? ['font-weight="bold"'] : []),
    ...(cell.italic ? ['font-style="italic"'] : []),
    ...(cell.underline ? ['text-decoration="underline"'] : []),
    ...(cell.dim ? ['opacity="0.62"'] : []),
  ].join(" ");
  return `<text x="${left(column)}" y="${top + 14}" textLength="${round(columns * CELL_WIDTH)}" xml:space="preserve" ${look}>${escaped(text)}</text>`;
}

/** Neighbours that look alike; two blanks part them, so that a font of another width moves little. */
function runsOf(row: readonly Cell[]): readonly Run[] {
  const runs: Run[] = [];
  let blanks = 0;
  for (const [column, cell] of row.entries()) {
    if (cell.width === 0) continue;
    const text = cell.text === "" ? " " : cell.text;
    const last = runs.at(-1);
    blanks = text === " " ? blanks + 1 : 0;
    const goesOn = last !== undefined && looksLike(last.cell, cell) && blanks < 2 === (last.text.trim() !== "" || last.text === "");
    if (goesOn) runs[runs.length - 1] = { ...last, columns: last.columns + cell.width, text: last.text + text };
    else runs.push({ column, columns: cell.width, text, cell });
  }
  return runs;
}

function looksLike(left: Cell, right: Cell): boolean {
  const look = ({ front, ground, bold, dim, italic, underline, inverse }: Cell): string =>
    JSON.stringify([front, ground, bold, dim, italic, underline, inverse]);
  return look(left) === look(right);
}

function isInk(cell: Cell): boolean {
  return cell.text.trim() !== "" || colours(cell).ground !== GROUND;
}

function colours({ front, ground, inverse }: Cell): { readonly front: string; readonly ground: string } {
  const plain = { front: hex(front) ?? FRONT, ground: hex(ground) ?? GROUND };
  return inverse ? { front: plain.ground, ground: plain.front } : plain;
}

function hex(colour: Colour): string | undefined {
  if (colour === undefined) return undefined;
  if ("rgb" in colour) return `#${colour.rgb.toString(16).padStart(6, "0")}`;
  const { palette } = colour;
  if (palette < 16) return SIXTEEN[palette];
  const parts =
    palette < 232
      ? [36, 6, 1].map((unit) => STEPS[Math.floor((palette - 16) / unit) % 6] ?? 0)
      : Array.from({ length: 3 }, () => 8 + (palette - 232) * 10);
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

const left = (column: number): number => round(MARGIN + column * CELL_WIDTH);
const round = (value: number): number => Math.round(value * 100) / 100;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
