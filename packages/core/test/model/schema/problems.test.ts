import assert from "node:assert/strict";
import { test } from "node:test";
import { problemText } from "../../../src/model/schema/problems.ts";

const long = "v".repeat(200);
const cut = `${"v".repeat(79)}…`;

const rows: readonly (readonly [string, string, string, string])[] = [
  ["the root has no pointer", "", "must be valid", "params must be valid"],
  ["a place is named by its pointer", "/a~1b/0", "must be string", "params/a~1b/0 must be string"],
  ["the value itself is cut", "/list/1", `got ${long}`, `params/list/1 got ${cut}`],
  ["what is quoted is cut, wherever it comes from", "", `unknown key "${long}" and '${long}'`, `params unknown key "${cut}" and '${cut}'`],
  ["a value at a place that is not there is none", "/list/9/x", "is missing", "params/list/9/x is missing"],
  ["a text without end is cut", "", "x ".repeat(2_000), `params ${"x ".repeat(2_000).slice(0, 999)}…`],
];
for (const [name, pointer, text, expected] of rows) {
  test(name, () => assert.equal(problemText([{ pointer, text }], { list: ["short", long] }), expected));
}

for (const [count, rest] of [
  [10, ""],
  [11, ", and 1 more"],
  [12, ", and 2 more"],
] as const) {
  test(`of ${count} violations ten are shown${rest}`, () => {
    const problems = Array.from({ length: count }, (_, i) => ({ pointer: `/${i}`, text: "is odd" }));
    const shown = Array.from({ length: 10 }, (_, i) => `params/${i} is odd`).join(", ");
    assert.equal(problemText(problems, {}), `${shown}${rest}`);
  });
}
