import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Verdict } from "@assent/core";
import { parseRule } from "../../src/rules/parse-rule.ts";
import type { RuleOptions } from "../../src/rules/rule.ts";
import { isFault } from "../../src/rules/rule-fault.ts";
import { faultOf, OPTIONS, request, rule, says } from "./rule-bench.ts";
import { shellCall } from "./shell-bench.ts";

describe("1.4: a name that other agents use is told what it is here", () => {
  const names: Readonly<Record<string, string>> = {
    Grep: "search",
    LS: "list",
    Task: "Agent",
    MultiEdit: "Edit",
    NotebookEdit: "Edit",
    TodoWrite: "todo",
    terminal: "Shell",
    run_shell_command: "Shell",
    write_file: "Edit",
  };
  for (const [name, here] of Object.entries(names)) {
    test(`${name} is ${here}`, () => assert.equal(faultOf("deny", name).hint, `here it is called ${here}`));
  }
});

describe("1.3: how an example of a rule is put", () => {
  const none: RuleOptions = { ...OPTIONS, tools: { get: () => undefined, names: () => [] } };
  const rows: readonly (readonly [text: string, options: RuleOptions, example: object | undefined])[] = [
    ["*", OPTIONS, { tool: "shell", argument: "command" }],
    ["Shell(ls)", OPTIONS, { tool: "shell", argument: "command" }],
    ["Read(a)", OPTIONS, { tool: "read", argument: "file_path" }],
    ["Edit(a)", OPTIONS, { tool: "write", argument: "file_path" }],
    ["WebFetch(a.test)", OPTIONS, { tool: "fetch", argument: "url" }],
    ["Agent(a)", OPTIONS, { tool: "agent", argument: "agent" }],
    ["t:a=x", OPTIONS, { tool: "t" }],
    ["runner", OPTIONS, { tool: "runner", argument: "line" }],
    ["Shell(ls)", none, { tool: "shell", argument: "command" }],
    ["Read(a)", none, { tool: "read", argument: "file_path" }],
    ["Edit(a)", none, { tool: "write", argument: "file_path" }],
    ["WebFetch(a.test)", none, { tool: "fetch", argument: "url" }],
    ["Agent(a)", none, { tool: "agent", argument: "agent" }],
  ];
  for (const [text, options, example] of rows) {
    test(`${text} ${options === none ? "where no tool is known" : ""}`, () => {
      const read = parseRule({ verdict: "deny", at: { text } }, options);
      const kept = isFault(read) ? read.rule : read;
      assert.deepEqual(kept?.example, example);
    });
  }
});

describe("2.1: agents by their names", () => {
  const rows: readonly (readonly [text: string, input: object, verdict: string])[] = [
    ["Agent(explorer)", { agent: "explorer" }, "yes"],
    ["Agent(EXPL*)", { agent: "explorer" }, "yes"],
    ["Agent(explorer)", { agent: "writer" }, "no"],
    ["Agent(fork)", {}, "yes"],
    ["Agent(fork)", { agent: null }, "yes"],
    ["Agent(explorer)", {}, "no"],
    ["Agent(*r)", { agent: 7 }, "no"],
  ];
  for (const [text, input, said] of rows) {
    test(`${text} of ${JSON.stringify(input)}: ${said}`, () => {
      assert.equal(says(rule("deny", text), request("agent", { ...input })), said);
    });
  }

  test("a name that cannot be read is a fault", () => assert.equal(faultOf("deny", "Agent([)").type, "rule_bad_glob"));
});

test("2.1: a tool that fetches is one of WebFetch, whatever its name", () => {
  const { concerns } = rule("deny", "WebFetch");
  assert.deepEqual([concerns("download", "fetch"), concerns("download", "read")], [true, false]);
});

describe("2.2: an option with its value", () => {
  const rows: readonly (readonly [command: string, said: string])[] = [
    ["curl -X POST x", "yes"],
    ["curl -XPOST x", "yes"],
    ["curl --request=POST x", "yes"],
    ["curl -X GET x", "no"],
    ["curl x", "no"],
    ["curl -X", "no"],
    ["curl -X $METHOD x", "doubt"],
  ];
  for (const [command, said] of rows) {
    test(`deny Shell(curl -X POST) of ${command}: ${said}`, () => {
      assert.equal(says(rule("deny", "Shell(curl -X POST)"), shellCall(command)), said);
    });
  }
});

describe("2.2: a text that is too long to be read is looked at for plain words", () => {
  const long = (start: string): string => `${start} #${"x".repeat(70_000)}`;
  const rows: readonly (readonly [verdict: Verdict, text: string, command: string, said: string])[] = [
    ["deny", "Shell(curl)", long("curl x"), "yes"],
    ["deny", "Shell(curl)", long("ls"), "no"],
    ["deny", "Shell(cur*)", long("curl x"), "no"],
    ["ask", "Shell(curl)", long("curl x"), "yes"],
    ["allow", "Shell(curl)", long("curl x"), "no"],
  ];
  for (const [verdict, text, command, said] of rows) {
    test(`${verdict} ${text} of ${command.slice(0, 8)}…: ${said}`, () => assert.equal(says(rule(verdict, text), shellCall(command)), said));
  }
});
