import assert from "node:assert/strict";
import { test } from "node:test";
import { formatProblem, problemEffect, SettingsError, type SettingsProblem, sortProblems } from "../../src/settings/problem.ts";

const PROBLEM: SettingsProblem = {
  type: "rule_never_applies",
  file: "b.json",
  line: 2,
  column: 3,
  key: "permissions.allow[0]",
  message: "too broad",
  hint: "narrow it",
  effect: "warning",
};

test("an error is named by its first problem that refuses, else by its first", () => {
  const refused: SettingsProblem = { ...PROBLEM, type: "settings_type", effect: "refuse" };
  const codes = [[PROBLEM, refused, { ...refused, type: "rule_syntax" as const }], [PROBLEM], []].map((all) => new SettingsError(all).code);
  assert.deepEqual(codes, ["settings_type", "rule_never_applies", "settings_unreadable"]);
});

test("an error tells every problem on a line of its own, and keeps its cause", () => {
  const cause = new Error("x");
  const error = new SettingsError([PROBLEM, { ...PROBLEM, file: "--mode", line: 0, column: 0 }], { cause });
  assert.deepEqual(
    [error.name, error.message, error.cause, error.problems.length],
    ["SettingsError", "b.json:2:3: too broad\n--mode: too broad", cause, 2],
  );
});

test("problems are sorted by file, line and column, and equals keep their order", () => {
  const at = (file: string, line: number, column: number): SettingsProblem => ({ ...PROBLEM, file, line, column, key: "" });
  const equal = ["x", "y"].map((key) => ({ ...at("b", 2, 1), key }));
  const sorted = sortProblems([at("b", 10, 1), ...equal, at("a", 9, 9), at("b", 2, 0), at("B", 1, 1)]);
  assert.deepEqual(
    sorted.map((one) => `${formatProblem(one)} ${one.key}`),
    ["B:1:1: too broad ", "a:9:9: too broad ", "b:2:0: too broad ", "b:2:1: too broad x", "b:2:1: too broad y", "b:10:1: too broad "],
  );
});

test("what only takes something away is a warning in a list of allows", () => {
  const both = (type: SettingsProblem["type"]): string => `${problemEffect(type, true)} ${problemEffect(type, false)}`;
  for (const type of ["settings_type", "rule_syntax", "rule_example", "rule_bad_glob"] as const)
    assert.equal(both(type), "warning refuse", type);
  for (const type of ["rule_unknown_tool", "rule_never_applies", "rule_project_untrusted"] as const)
    assert.equal(both(type), "warning warning", type);
  for (const type of [
    "settings_unreadable",
    "settings_insecure",
    "settings_syntax",
    "settings_unknown_key",
    "settings_duplicate_key",
    "settings_version",
    "mode_locked",
  ] as const)
    assert.equal(both(type), "refuse refuse", type);
});
