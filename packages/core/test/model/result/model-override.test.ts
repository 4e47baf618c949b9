import assert from "node:assert/strict";
import { test } from "node:test";
import { resolveModelOverride } from "../../../src/model/result/model-override.ts";

type Args = Parameters<typeof resolveModelOverride>;

const read = { name: "read", modelOverride: "m1" };
const plain = { name: "read" };
const search = { name: "search", modelOverride: "m2" };

const table: readonly (readonly [sentence: string, tools: Args[1], calls: readonly string[], results: Args[2], answer: string])[] = [
  ["no calls", [read, search], [], undefined, ""],
  ["the first call's tool wins", [read, search], ["read", "search"], undefined, "m1"],
  ["a tool without a override is skipped", [plain, { name: "search", modelOverride: "m1" }], ["read", "search"], undefined, "m1"],
  ["an unknown tool is skipped", [read], ["nope"], undefined, ""],
  ["a result's override comes before its tool's", [read], ["read"], [{ modelOverride: "m9" }], "m9"],
  ["a failed result's override does not count", [read], ["read"], [{ modelOverride: "m9", error: { message: "x" } }], "m1"],
  ["a later result does not beat an earlier tool", [read, search], ["read", "search"], [undefined, { modelOverride: "m9" }], "m1"],
  ["results stand in call order", [plain, { name: "search" }], ["read", "search"], [{}, { modelOverride: "m9" }], "m9"],
  ["a blank override is none", [{ name: "read", modelOverride: "  " }, search], ["read", "search"], [{ modelOverride: " " }], "m2"],
  ["a blank result leaves the tool's override", [read], ["read"], [{ modelOverride: "" }], "m1"],
  ["a override is trimmed", [{ name: "read", modelOverride: " m1\n" }], ["read"], undefined, "m1"],
  ["of two tools of one name the last counts", [read, { name: "read", modelOverride: "m7" }], ["read"], undefined, "m7"],
  ["the last counts also when it has no override", [read, plain], ["read"], undefined, ""],
  ["an unknown tool's result is skipped", [], ["nope"], [{ modelOverride: "m9" }], ""],
];

for (const [sentence, tools, calls, results, answer] of table) {
  test(sentence, () => {
    const named = calls.map((name) => ({ name }));
    assert.equal(results ? resolveModelOverride(named, tools, results) : resolveModelOverride(named, tools), answer);
  });
}
