import { cut, displayWidth } from "./display-width.ts";
import { oneLine } from "./visible-text.ts";

/** The name of a column. One in `shrinks` may be cut on a narrow terminal. */
export type Column = string | { readonly shrinks: string };

const GAP = "  ";
const NARROWEST = 12;

export function textTable(columns: readonly Column[], rows: readonly (readonly string[])[], terminal: number | undefined): string {
  const cells = rows.map((row) => row.map(oneLine));
  const names = columns.map((column) => (typeof column === "string" ? column : column.shrinks));
  const widths = names.map((name, at) => Math.max(displayWidth(name), ...cells.map((row) => displayWidth(row[at] ?? ""))));
  const fitted = terminal === undefined ? widths : shrink(columns, widths, terminal);
  if (!fitted) return cells.map((row) => block(names, row)).join("\n");
  const heading = names.map((name) => name.toUpperCase());
  return [heading, ...cells].map((row) => line(row, fitted)).join("");
}

function shrink(columns: readonly Column[], widths: readonly number[], terminal: number): readonly number[] | undefined {
  const fitted = [...widths];
  let over = fitted.reduce((sum, width) => sum + width, 0) + GAP.length * (columns.length - 1) - terminal;
  for (const [at, column] of columns.entries()) {
    const width = fitted[at] ?? 0;
    if (typeof column === "string" || over <= 0 || width <= NARROWEST) continue;
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

function block(names: readonly string[], row: readonly string[]): string {
  return names.map((name, at) => `${name}: ${row[at] ?? ""}\n`).join("");
}
