import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { type Decision, MODES, type Request } from "@assent/core";
import { decide } from "@assent/core/parts";
import { createPolicyFacts } from "../../src/facts/facts.ts";
import { createPathLookup } from "../../src/paths/lookup.ts";
import { createExampleTrial } from "../../src/rules/examples.ts";
import type { RuleTool } from "../../src/rules/rule.ts";
import { type LoadedPolicy, loadPolicy, type PolicyOptions } from "../../src/settings/load-policy.ts";
import { SettingsError } from "../../src/settings/problem.ts";
import { rule, request as ruleRequest } from "../rules/rule-bench.ts";
import { type Files, PARTS, placesWith } from "./policy-bench.ts";

const SHELL: RuleTool = { kind: "execute", commandArg: "command", aliases: { cmd: "command" } };
const tools: PolicyOptions["tools"] = { get: (name) => (name === "shell" ? SHELL : undefined), names: () => ["shell"] };
const parts: PolicyOptions = { ...PARTS, tools, examples: createExampleTrial(tools, () => "execute") };

function judge(t: TestContext, files: Files, command: string): Decision & { readonly loaded: LoadedPolicy } {
  const places = placesWith(t, files);
  const loaded = loadPolicy(places, parts);
  const { workspace, home } = places;
  const facts = createPolicyFacts({ workspace, home, look: createPathLookup({ workspace, home }) });
  const found = facts({ tool: "shell", kind: "execute", input: { command }, cwd: workspace, locations: undefined });
  assert.ok(!(found instanceof Promise));
  const request: Request = {
    tool: "shell",
    toolDigest: "d",
    kind: "execute",
    input: { command },
    cwd: workspace,
    binds: found.binds,
    units: found.units,
  };
  return { ...decide(request, { ...loaded.policy, hint: { readOnly: found.safe === true } }), loaded };
}

test("a rule does not cover a program that others can replace, and says why", async (t) => {
  const { workspace, home } = placesWith(t, {});
  const bin = join(home, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "mytool"), "", { mode: 0o755 });
  for (const [mode, answer] of [
    [0o755, "yes"],
    [0o777, "no"],
  ] as const) {
    chmodSync(bin, mode);
    const facts = createPolicyFacts({ workspace, home, look: createPathLookup({ workspace, home }), userPath: bin });
    const { units } = await facts({ tool: "shell", kind: "execute", input: { command: "mytool x" }, cwd: workspace, locations: undefined });
    const { test: matches, whyNot } = rule("allow", "Shell(mytool *)");
    const [unit] = units;
    assert.ok(unit);
    assert.equal(matches(ruleRequest("shell"), unit), answer);
    if (answer === "no") assert.match(whyNot?.(unit)?.why ?? "", /^No rule covers .*mytool: other users can change it/);
  }
});

const permissions = (lists: object): { readonly permissions: object } => ({ permissions: lists });

describe("rules about commands, from files", () => {
  for (const lists of ['"allow":["*"],"deny":["Shell(git push)"]', '"deny":["Shell(git push)"],"allow":["*"]']) {
    test(`{${lists}} denies git push`, (t) => {
      const { verdict, rule } = judge(t, { user: `{"permissions":{${lists}}}` }, "git push");
      assert.deepEqual([verdict, rule?.text], ["deny", "Shell(git push)"]);
    });
  }
  test("the user asks for every command, an untrusted project allows all", (t) => {
    const { verdict, source, loaded } = judge(t, { user: permissions({ ask: ["Shell"] }), project: permissions({ allow: ["*"] }) }, "ls");
    assert.deepEqual([verdict, source, loaded.problems.map(({ type }) => type)], ["ask", "user permissions", ["rule_project_untrusted"]]);
  });
  test("an ask rule holds in yolo", (t) => {
    const { verdict, reason } = judge(t, { user: { mode: "yolo", ...permissions({ ask: ["Shell(npm publish)"] }) } }, "npm publish");
    assert.deepEqual([verdict, reason], ["ask", "checker"]);
  });
  for (const [allowing, asking, source] of [
    ["user", "project", "project permissions"],
    ["project", "user", "user permissions"],
    ["user", "team", "permissions configuration"],
    ["team", "user", "user permissions"],
  ] as const) {
    test(`${allowing} allows git, ${asking} asks for git fetch`, (t) => {
      const files: Files = {
        [allowing]: permissions({ allow: ["Shell(git *)"] }),
        [asking]: permissions({ ask: ["Shell(git fetch)"] }),
        trusted: true,
      };
      const { verdict, source: said } = judge(t, files, "git fetch");
      assert.deepEqual([verdict, said], ["ask", source]);
    });
  }
  for (const mode of MODES.filter((name) => name !== "plan")) {
    for (const list of ["deny", "ask"] as const) {
      test(`${list} Shell(git push) against allow * in ${mode}`, (t) => {
        const { verdict, rule, explicitAsk } = judge(
          t,
          { team: { mode, ...permissions({ allow: ["*"] }) }, project: permissions({ [list]: ["Shell(git push)"] }) },
          "git -C . push origin main",
        );
        assert.deepEqual([verdict, rule?.text, explicitAsk], [list, "Shell(git push)", list === "ask"]);
      });
    }
  }
});

describe("examples of rules about commands", () => {
  const rule = { rule: "Shell(git push)", match: ["git push", "git -C . push"], notMatch: ["git pushx"] };
  test("good examples", (t) => assert.equal(judge(t, { user: permissions({ deny: [rule] }) }, "git push").verdict, "deny"));
  test("a hazard counts against an allow's example", (t) => {
    const { loaded } = judge(t, { user: permissions({ allow: [{ rule: "Shell(git log)", match: ["git log --output x -p"] }] }) }, "true");
    assert.deepEqual([loaded.problems.map(({ type, column }) => [type, column]), loaded.rules], [[["rule_example", 60]], []]);
  });
  test("a failing example of a deny refuses, and is named", (t) => {
    const places = placesWith(t, { user: permissions({ deny: [{ ...rule, match: ["git pull"] }] }) });
    assert.throws(
      () => loadPolicy(places, parts),
      (error) => error instanceof SettingsError && error.code === "rule_example" && error.message.includes("git pull"),
    );
  });
  test("a star after a program that runs any code is a rule like any other", (t) => {
    const { loaded } = judge(t, { user: permissions({ allow: ["Shell(python3 *)"] }) }, "true");
    assert.deepEqual([loaded.problems, loaded.rules.map(({ at }) => at.text)], [[], ["Shell(python3 *)"]]);
  });
});
