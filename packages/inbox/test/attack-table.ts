import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const COLUMNS = { requests: 1, Chromium: 2 } as const;

/**
 * Checks that the table of attacks in SECURITY.md has exactly these attacks in a column, each with the number of cases that the tests make. A row
 * begins with the name of the attack, up to a colon.
 */
export function expectAttackCounts(column: keyof typeof COLUMNS, attacks: readonly string[]): void {
  const made: Record<string, number> = {};
  for (const attack of attacks) made[attack] = (made[attack] ?? 0) + 1;
  assert.deepEqual(writtenCounts(COLUMNS[column]), made, `the table of attacks in SECURITY.md, column ${column}`);
}

function writtenCounts(column: number): Readonly<Record<string, number>> {
  const security = readFileSync(new URL("../../../SECURITY.md", import.meta.url), "utf8");
  const [, table = ""] = security.split("| attack | requests | in Chromium | what happens |\n");
  const rows = table
    .split("\n\n", 1)[0]
    ?.split("\n")
    .slice(1)
    .map((line) => line.split("|").map((cell) => cell.trim()));
  return Object.fromEntries(
    (rows ?? []).map((cells) => [cells[1]?.split(":")[0] ?? "", Number(cells[column + 1])]).filter(([, cases]) => cases !== 0),
  );
}
