import { cut, displayWidth } from "./display-width.ts";
import { oneLine } from "./visible-text.ts";

/** `shrinks`: the column may be cut on a narrow terminal. */
export type Column = { readonly name: string; readonly shrinks?: boolean };

const GAP = "  ";
const NARROWEST = 12;

/** Formats an aligned table, or one block per row if it cannot fit. */
export function textTable(columns: readonly Column[], rows: readonly (readonly string[])[], terminal: number | undefined): string {
  const cells = rows.map((row) => row.map(oneLine));
  const widths = columns.map(({ name }, at) => Math.max(displayWidth(name), ...cells.map((row) => displayWidth(row[at] ?? ""))));
  const fitted = terminal === undefined ? widths : shrink(columns, widths, terminal);
  if (!fitted) return cells.map((row) => block(columns, row)).join("\n");
  const heading = columns.map(({ name }) => name.toUpperCase());
  return [heading, ...cells].map((row) => line(row, fitted)).join("");
}

function shrink(columns: readonly Column[], widths: readonly number[], terminal: number): readonly number[] | undefined {
  const fitted = [...widths];
  let over = fitted.reduce((sum, width) => sum + width, 0) + GAP.length * (columns.length - 1) - terminal;
  for (const [at, column] of columns.entries()) {
    const width = fitted[at] ?? 0;
    if (!column.shrinks || over <= 0 || width <= NARROWEST) continue;
    const taken = Math.min(over, width - NARROWEST);
    fitted[at] = width - taken;
    over -= taken;
  }
  return over > 0 ? undefined : fitted;
}

function line(row: readonly string[], widths: readonly number[]): string {
  const cells = widths.map((width, at) => {
    const cell = cut(row[at] ?? "", width);
    return cell + " ".repeat(width - displayWidth(cell));
  });
  return `${cells.join(GAP).trimEnd()}\n`;
}

function block(columns: readonly Column[], row: readonly string[]): string {
  return columns.map(({ name }, at) => `${name}: ${row[at] ?? ""}\n`).join("");
}
