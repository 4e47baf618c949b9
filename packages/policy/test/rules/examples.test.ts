import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { JsonObject, Request, Verdict } from "@assent/core";
import { checkExamples, type ExampleInput } from "../../src/rules/examples.ts";
import { SettingsError } from "../../src/settings/problem.ts";
import { bench } from "../workspace-bench.ts";
import { OPTIONS, path, pathRequest, request, urlRequest } from "./rule-bench.ts";
import { shellCall, WORKSPACE } from "./shell-bench.ts";

/** An empty workspace as far as these examples can tell. */
const BENCH = { tools: OPTIONS.tools, roots: { ...OPTIONS.roots, settingsRoot: WORKSPACE, workspace: WORKSPACE }, evaluate };

function evaluate(tool: string, input: JsonObject): Request {
  if (typeof input["command"] === "string") return shellCall(input["command"]);
  if (typeof input["file_path"] === "string") return pathRequest(tool, path(`${WORKSPACE}/${input["file_path"]}`), input);
  if (typeof input["url"] === "string") return urlRequest(input["url"]);
  return request(tool, input);
}

type Row = readonly [sentence: string, verdict: Verdict, rule: string, example: ExampleInput, matched: boolean];

const table: readonly Row[] = [
  ["a command that an allow covers", "allow", "Shell(git status)", "git status -sb", true],
  ["a command with a hazard", "allow", "Shell(git log)", "git log --output=x", false],
  ["a list of which one part is not covered", "allow", "Shell(ls)", "ls; pwd", false],
  ["a command that a deny finds", "deny", "Shell(curl)", "sh -c 'curl x'", true],
  ["one part is enough for a deny", "deny", "Shell(curl)", "ls; curl x", true],
  ["a command that a deny does not find", "deny", "Shell(curl)", "cat curl.md", false],
  ["a deny in doubt does not match", "deny", "Shell(curl)", "$x y", false],
  ["an ask in doubt asks", "ask", "Shell(curl)", "$x y", true],
  ["every tool: a command", "deny", "*", "ls", true],
  ["the pattern notation", "deny", "shell:cmd=*rm -rf*", "rm -rf x", true],
  ["a path", "allow", "Read(src/**)", "src/a.ts", true],
  ["a path that is not meant", "allow", "Edit(src/**)", "lib/a.ts", false],
  ["a host", "allow", "WebFetch(example.com)", "https://a.example.com/", true],
  ["a host that is not meant", "deny", "WebFetch(=example.com)", "https://a.example.com/", false],
  ["an agent", "deny", "Agent(explorer)", "explorer", true],
  ["a whole input", "deny", "t:a=x", { a: "x" }, true],
  ["a whole input that is not meant", "deny", "t:a=x", { a: "y" }, false],
  ["a script in an empty workspace has nothing to change", "allow", "Shell(npm test)", "npm test", true],
];

for (const [sentence, verdict, text, example, matched] of table) {
  test(`${sentence}`, () => {
    const written = { verdict, at: { text }, bind: { script: "sha256:0" } };
    assert.deepEqual(checkExamples(written, matched ? { match: [example] } : { notMatch: [example] }, BENCH), []);
    const faults = checkExamples(written, matched ? { notMatch: [example] } : { match: [example] }, BENCH);
    assert.deepEqual(
      faults.map(({ type }) => type),
      ["rule_example"],
    );
  });
}

test("a failed example is named, with what happened and which hazard was in the way", () => {
  const [fault] = checkExamples({ verdict: "allow", at: { text: "Shell(git log)" } }, { match: ["git log --output=x"] }, BENCH);
  assert.match(fault?.message ?? "", /'git log --output=x' is not matched by Shell\(git log\) \(.*--output/);
  const [other] = checkExamples({ verdict: "deny", at: { text: "t:a=x" } }, { notMatch: [{ a: "x" }] }, BENCH);
  assert.match(other?.message ?? "", /\{"a":"x"\} is matched by t:a=x/);
});

test("every example that fails is a fault", () => {
  const faults = checkExamples(
    { verdict: "allow", at: { text: "Shell(ls)" } },
    { match: ["pwd", "ls", "cat"], notMatch: ["ls -la"] },
    BENCH,
  );
  assert.equal(faults.length, 3);
});

test("a string example for a tool without a declared argument cannot be tested", () => {
  assert.equal(checkExamples({ verdict: "deny", at: { text: "t" } }, { match: ["x"] }, BENCH).length, 1);
  assert.equal(checkExamples({ verdict: "deny", at: { text: "mcp__away__x" } }, { match: [{}] }, BENCH).length, 1);
  assert.equal(checkExamples({ verdict: "deny", at: { text: "t" } }, { match: [{}] }, BENCH).length, 0);
});

test("the examples of a rule that is broken itself are not tried", () => {
  assert.deepEqual(checkExamples({ verdict: "deny", at: { text: "a[" } }, { match: ["x"] }, BENCH), []);
});

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

type Trial = readonly [sentence: string, list: "allow" | "ask" | "deny", rule: string, example: string | object, matched: boolean];

const TRIALS: readonly Trial[] = [
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
  for (const [sentence, list, rule, example, matched] of TRIALS) {
    test(`${sentence} is ${matched ? "" : "not "}matched by ${rule}`, (t) => {
      const [right, wrong] = matched ? ["match", "notMatch"] : ["notMatch", "match"];
      assert.deepEqual(problemsOf(t, { [list]: [{ rule, [right as string]: [example] }] }), []);
      assert.deepEqual(problemsOf(t, { [list]: [{ rule, [wrong as string]: [example] }] }), ["rule_example"]);
    });
  }
});
