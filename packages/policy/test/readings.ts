import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";

/** What is read, and all that must be found in it. */
type Row = { readonly text: string; readonly found: readonly string[] };

/**
 * Tests every row of a file: a text at the start of a line, then what must be found in it, indented. `⏎` and `⇥` stand for a line's end and a tab. After a change
 * that is meant, run `npm run generate`: it writes the file anew, and what became of each row is the difference to read.
 */
export function testReadings(file: URL, read: (text: string) => readonly string[]): void {
  let rows = rowsOf(readFileSync(file, "utf8"));
  const found = (text: string): readonly string[] => read(text.replaceAll("⏎", "\n").replaceAll("⇥", "\t")).map(onOneLine);
  if (process.env["ASSENT_WRITE"] === "1") {
    const lines = rows.flatMap(({ text }) => [text, ...found(text).map((line) => `  ${line}`)]);
    writeFileSync(file, `${lines.join("\n")}\n`);
    rows = rowsOf(readFileSync(file, "utf8"));
  }
  describe("what is found in a text", () => {
    test("there are texts to read", () => assert.ok(rows.length > 50));
    for (const row of rows) test(row.text, () => same(found(row.text), row.found));
  });
}

const COMMAND = "npm run generate";

function same(found: readonly string[], wanted: readonly string[]): void {
  const differs = `\nfound:  ${found.join("\n        ")}\nwanted: ${wanted.join("\n        ")}`;
  assert.ok(isDeepStrictEqual(found, wanted), `If this is meant, run ${COMMAND} and read the difference.${differs}`);
}

function onOneLine(text: string): string {
  return text.replaceAll("\n", "⏎").replaceAll("\t", "⇥");
}

function rowsOf(content: string): readonly Row[] {
  const rows: { text: string; found: string[] }[] = [];
  for (const line of content.split("\n").slice(0, -1)) {
    if (!line.startsWith("  ")) rows.push({ text: line, found: [] });
    else rows.at(-1)?.found.push(line.slice(2));
  }
  return rows;
}
