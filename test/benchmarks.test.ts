import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

const ROOT = join(import.meta.dirname, "..");

type Work = { readonly ratio?: number; readonly absent?: string; readonly calls?: number; readonly effects?: number };
type Row = { readonly id: string; readonly works: Readonly<Record<string, Work>>; readonly again: Again };
type Again = { readonly absent?: string; readonly inTurn?: Count; readonly atOnce?: Count };
type Count = { readonly effects: number };

const { rows }: { readonly rows: readonly Row[] } = JSON.parse(read("bench/peers/results.json"));

describe("the benchmarks beside the peers", () => {
  const made: Readonly<Record<string, string>> = JSON.parse(
    execFileSync(process.execPath, ["bench/peers/document.mjs", "--print"], { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 24 }),
  );

  test("the generator makes the page and its pictures", () => {
    const pictures = globSync("docs/pictures/bench-*.svg", { cwd: ROOT });
    assert.deepEqual(Object.keys(made).sort(), ["docs/benchmarks.md", ...pictures].sort());
  });

  for (const [file, text] of Object.entries(made)) {
    test(`${file} is what the recorded results make: run bench/peers/document.mjs`, () => assert.equal(read(file), text));
  }

  test("every figure was counted in the world: as many effects as calls", () => {
    const figures = rows.flatMap(({ id, works }) => Object.entries(works).map(([work, figure]) => ({ at: `${id}, ${work}`, ...figure })));
    const measured = figures.filter(({ ratio }) => ratio !== undefined);
    assert.ok(measured.length > 0);
    for (const { at, calls, effects } of measured) assert.equal(effects, calls, at);
  });

  test("what is not measured says why", () => {
    for (const { id, works } of rows)
      for (const [work, { ratio, absent }] of Object.entries(works))
        assert.ok(ratio !== undefined || (absent ?? "") !== "", `${id}, ${work}`);
  });

  test("one approved call of ours happened once, however often it was resumed", () => {
    const ours = rows.filter(({ id }) => id.startsWith("assent"));
    assert.ok(ours.length > 0);
    for (const { id, again } of ours) assert.deepEqual([again.inTurn?.effects, again.atOnce?.effects], [1, 1], id);
  });
});

function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}
