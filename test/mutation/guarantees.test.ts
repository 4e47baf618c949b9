import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PLANTED_FAULTS } from "./guarantees.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

for (const { fault, file, was, test: testFile } of PLANTED_FAULTS)
  test(`the fault "${fault}" still fits its source`, () => {
    assert.equal(read(file).split(was).length, 2, `${file} must contain this text exactly once: ${was}`);
    assert.ok(existsSync(join(ROOT, testFile)), testFile);
  });

test("every guarantee of README.md and SECURITY.md is broken by at least one planted fault", () => {
  const promises = [...numbered(/^\d+(?=\. \*\*)/gm, "README"), ...numbered(/(?<=^\| )\d+(?= \| )/gm, "SECURITY")];
  assert.ok(promises.length > 10);
  assert.deepEqual([...new Set(PLANTED_FAULTS.map(({ guarantee }) => guarantee))].sort(), promises);
});

function numbered(pattern: RegExp, document: string): readonly string[] {
  return (read(`${document}.md`).match(pattern) ?? []).map((number) => `${document} ${number}`);
}
