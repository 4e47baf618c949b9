import assert from "node:assert/strict";
import { test } from "node:test";
import { resolveModelOverride } from "../../../src/model/result/model-override.ts";

type NamedTool = { readonly name: string; readonly modelOverride?: string };
type Results = Parameters<typeof resolveModelOverride>[1];

const read = { name: "read", modelOverride: "m1" };
const plain = { name: "read" };
const search = { name: "search", modelOverride: "m2" };

const table: readonly (readonly [
  sentence: string,
  tools: readonly NamedTool[],
  calls: readonly string[],
  results: Results,
  answer: string,
])[] = [
  ["no calls", [read, search], [], [], ""],
  ["the first call's tool wins", [read, search], ["read", "search"], [], "m1"],
  ["a tool without a override is skipped", [plain, { name: "search", modelOverride: "m1" }], ["read", "search"], [], "m1"],
  ["an unknown tool is skipped", [read], ["nope"], [], ""],
  ["a result's override comes before its tool's", [read], ["read"], [{ modelOverride: "m9" }], "m9"],
  ["a failed result's override does not count", [read], ["read"], [{ modelOverride: "m9", error: { message: "x" } }], "m1"],
  ["a later result does not beat an earlier tool", [read, search], ["read", "search"], [undefined, { modelOverride: "m9" }], "m1"],
  ["results stand in call order", [plain, { name: "search" }], ["read", "search"], [{}, { modelOverride: "m9" }], "m9"],
  ["a blank override is none", [{ name: "read", modelOverride: "  " }, search], ["read", "search"], [{ modelOverride: " " }], "m2"],
  ["a blank result leaves the tool's override", [read], ["read"], [{ modelOverride: "" }], "m1"],
  ["a override is trimmed", [{ name: "read", modelOverride: " m1\n" }], ["read"], [], "m1"],
];

for (const [sentence, tools, calls, results, answer] of table) {
  test(sentence, () => {
    const named = calls.map((name) => ({ name }));
    const toolOverride = (name: string) => tools.find((tool) => tool.name === name)?.modelOverride;
    assert.equal(resolveModelOverride(named, results, toolOverride), answer);
  });
}
