import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { SettingsError } from "../../src/settings/problem.ts";
import { bench } from "../workspace-bench.ts";

function problemsOf(t: TestContext, permissions: object): readonly string[] {
  try {
    return bench(t, { permissions }, { files: ["src/a", "package.json"] })
      .source.loaded()
      .problems.map(({ type }) => type);
  } catch (error) {
    assert.ok(error instanceof SettingsError);
    return error.problems.map(({ type }) => type);
  }
}

type Row = readonly [sentence: string, list: "allow" | "ask" | "deny", rule: string, example: string | object, matched: boolean];

const ROWS: readonly Row[] = [
  ["a command", "allow", "Shell(npm test)", "npm test", true],
  ["a command with a hazard", "allow", "Shell(npm test)", "npm test > x", false],
  ["the input of a tool that executes", "deny", "shell:command=curl*", { command: "curl x" }, true],
  ["a path, in a workspace that is empty", "allow", "Edit(src/**)", "src/a", true],
  ["a path that leads out of it", "allow", "Edit(src/**)", "src/../../a", false],
  ["a path of an input", "deny", "read:file_path=secret/*", { file_path: "secret/x" }, true],
  ["a URL", "allow", "WebFetch(example.com)", "https://example.com/a", true],
  ["a URL that is read as another host", "allow", "WebFetch(example.com)", "https://example.com@evil.test/", false],
  ["the input of any other tool", "deny", "deploy:target=prod", { target: "prod" }, true],
  ["by another spelling of the argument", "deny", "deploy:target=prod", { to: "prod" }, true],
];

describe("examples of rules are tried with the tools that there are", () => {
  for (const [sentence, list, rule, example, matched] of ROWS) {
    test(`${sentence} is ${matched ? "" : "not "}matched by ${rule}`, (t) => {
      const [right, wrong] = matched ? ["match", "notMatch"] : ["notMatch", "match"];
      assert.deepEqual(problemsOf(t, { [list]: [{ rule, [right as string]: [example] }] }), []);
      assert.deepEqual(problemsOf(t, { [list]: [{ rule, [wrong as string]: [example] }] }), ["rule_example"]);
    });
  }
});
