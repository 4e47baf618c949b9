import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { JsonObject, Kind } from "@assent/core";
import type { HookSubject } from "@assent/core/parts";
import { createPolicyFacts } from "../../src/facts/facts.ts";
import { compileHookCondition, type HookFacts } from "../../src/hooks/condition.ts";
import { createPathLookup } from "../../src/paths/lookup.ts";
import type { RuleOptions } from "../../src/rules/rule.ts";
import { scratch } from "../scratch.ts";

const TOOLS = new Map([
  ["shell", { kind: "execute", commandArg: "command" }],
  ["write", { kind: "edit", pathArgs: ["path"] }],
  ["fetch", { kind: "fetch", urlArg: "url" }],
]);

/** Compiles a rule in an empty workspace and asks it about a call. */
async function isMeant(t: TestContext, rule: string, [tool, kind, input]: readonly [string, Kind, JsonObject]): Promise<boolean> {
  const workspace = scratch(t);
  const options: RuleOptions = {
    tools: { get: (name) => TOOLS.get(name), names: () => [...TOOLS.keys()] },
    roots: { settingsRoot: workspace, workspace, home: "/home/u" },
  };
  const facts = createPolicyFacts({ workspace, look: createPathLookup({ workspace, home: "/home/u" }) });
  const look: HookFacts = ({ input: given, ...rest }) => {
    const path = given["path"];
    return facts({ ...rest, input: given, locations: typeof path === "string" ? [{ path }] : undefined });
  };
  const compiled = compileHookCondition(rule, options, look);
  assert.ok("test" in compiled, "the rule must be read");
  const subject: HookSubject = { tool, kind, input, cwd: workspace };
  return await compiled.test(subject);
}

const ROWS: readonly (readonly [name: string, rule: string, call: readonly [string, Kind, JsonObject], expected: boolean])[] = [
  ["the command it names", "Shell(rm *)", ["shell", "execute", { command: "rm -r out" }], true],
  ["a part of a line", "Shell(rm *)", ["shell", "execute", { command: "ls && rm -r out" }], true],
  ["the command by its path", "Shell(rm *)", ["shell", "execute", { command: "/bin/rm x" }], true],
  ["the command behind a wrapper", "Shell(rm *)", ["shell", "execute", { command: "timeout 5 rm x" }], true],
  ["a command in doubt", "Shell(rm *)", ["shell", "execute", { command: "$x -r out" }], true],
  ["another command", "Shell(rm *)", ["shell", "execute", { command: "ls rm" }], false],
  ["another tool", "Shell(rm *)", ["write", "edit", { path: "rm" }], false],
  ["a whole tool", "Shell", ["shell", "execute", { command: "ls" }], true],
  ["a path", "Edit(/src/**)", ["write", "edit", { path: "src/a.ts" }], true],
  ["another path", "Edit(/src/**)", ["write", "edit", { path: "docs/a.md" }], false],
  ["the other notation", "shell:command=rm*", ["shell", "execute", { command: "rm x" }], true],
  ["a tool that is not there now", "deploy", ["deploy", "other", {}], true],
];
for (const [name, rule, call, expected] of ROWS) {
  test(`if ${rule} is ${expected ? "" : "not "}for ${name}`, async (t) => assert.equal(await isMeant(t, rule, call), expected));
}

for (const text of ["Shell(rm", "", "shell:=x", "a["]) {
  test(`'${text}' is not a valid rule`, (t) => {
    const workspace = scratch(t);
    const options = { tools: { get: () => undefined, names: () => [] }, roots: { settingsRoot: workspace, workspace, home: "/" } };
    const compiled = compileHookCondition(text, options, () => assert.fail("nothing is looked at"));
    assert.ok("fault" in compiled);
  });
}
