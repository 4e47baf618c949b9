import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { type LoadedPolicy, loadPolicy } from "../../src/settings/load-policy.ts";
import { diffRules } from "../../src/settings/rules-diff.ts";
import { PARTS, placesWith } from "./policy-bench.ts";

function load(t: TestContext, permissions: object): LoadedPolicy {
  return loadPolicy(placesWith(t, { policy: { permissions } }), PARTS);
}

describe("rules that differ", () => {
  type Row = readonly [
    sentence: string,
    old: object,
    next: object,
    added: readonly string[],
    removed: readonly string[],
    changed: readonly string[],
  ];
  const rows: readonly Row[] = [
    ["nothing", { deny: ["deploy"] }, { deny: ["deploy"] }, [], [], []],
    ["the order does not count", { deny: ["deploy", "ship"] }, { deny: ["ship", "deploy"] }, [], [], []],
    ["the spelling does not count", { deny: ["deploy"] }, { deny: [{ rule: " DEPLOY() ", because: "x" }] }, [], [], []],
    ["one more, one less", { deny: ["deploy"] }, { deny: ["ship"] }, ["deny ship"], ["deny deploy"], []],
    ["another verdict", { allow: ["deploy"] }, { ask: ["deploy"] }, [], [], ["allow deploy → ask deploy"]],
    ["the same rule twice, then once", { ask: ["deploy", "deploy"] }, { ask: ["deploy"] }, [], ["ask deploy"], []],
    ["two verdicts, one stays", { allow: ["deploy"], ask: ["deploy"] }, { ask: ["deploy"] }, [], ["allow deploy"], []],
    ["all are new", {}, { deny: ["deploy"], allow: ["ship"] }, ["deny deploy", "allow ship"], [], []],
  ];
  for (const [sentence, old, next, added, removed, changed] of rows) {
    test(sentence, (t) => {
      const diff = diffRules(load(t, old), load(t, next));
      const shown = ({ verdict, at }: LoadedPolicy["rules"][number]): string => `${verdict} ${at.text}`;
      assert.deepEqual(diff.added.map(shown), added);
      assert.deepEqual(diff.removed.map(shown), removed);
      assert.deepEqual(
        diff.changed.map(({ from, to }) => `${shown(from)} → ${shown(to)}`),
        changed,
      );
    });
  }
});
