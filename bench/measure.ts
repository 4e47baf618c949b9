/** One row of the bench: a figure, what it is compared with, and the budget for their ratio. */
export type Row = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly base?: number;
  readonly baseName?: string;
  readonly ratio?: number;
  readonly budget: number;
  /** What the budget bounds: the ratio, or the value itself. */
  readonly bounds: "ratio" | "value";
  readonly ok: boolean;
  /** A figure of the same unit that is told beside it and that the budget does not bound. */
  readonly apart?: { readonly name: string; readonly value: number };
};

/** Microseconds per call of `act`, the best of several rounds: the machine's noise only ever adds. */
export async function microseconds(rounds: number, act: () => Promise<number> | number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const start = process.hrtime.bigint();
    const count = await act();
    const elapsed = Number(process.hrtime.bigint() - start) / 1_000;
    best = Math.min(best, elapsed / count);
  }
  return best;
}

/** Microseconds of processor time per call of one round of `act`, which other programs on the machine disturb less than wall time. */
export async function processorMicroseconds(act: () => Promise<number>): Promise<number> {
  const start = process.cpuUsage();
  const count = await act();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / count;
}

/** A row whose budget bounds the ratio to something measured in the same run. */
export function ratioRow(
  name: string,
  measured: { readonly value: number; readonly base: number; readonly unit?: string },
  budget: { readonly of: string; readonly most: number },
): Row {
  const ratio = measured.value / measured.base;
  return {
    name,
    value: measured.value,
    unit: measured.unit ?? "µs",
    base: measured.base,
    baseName: budget.of,
    ratio,
    budget: budget.most,
    bounds: "ratio",
    ok: ratio <= budget.most,
  };
}

/** A row whose budget bounds the figure itself. */
export function valueRow(name: string, measured: { readonly value: number; readonly unit: string }, most: number): Row {
  return { name, ...measured, budget: most, bounds: "value", ok: measured.value <= most };
}

/** The rows as aligned text. */
export function printRows(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.ok ? "ok  " : "OVER",
    row.name,
    `${figure(row.value)} ${row.unit}`,
    row.ratio === undefined ? "" : `${row.ratio.toFixed(2)} × ${row.baseName} (${figure(row.base ?? 0)} ${row.unit})`,
    row.bounds === "ratio" ? `budget ${row.budget} ×` : `budget ${row.budget} ${row.unit}`,
    row.apart === undefined ? "" : `+ ${figure(row.apart.value)} ${row.unit} ${row.apart.name}`,
  ]);
  const widths = [0, 1, 2, 3, 4, 5].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
