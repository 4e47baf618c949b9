import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { Verdict } from "@assent/core";
import { isFault } from "../../src/rules/fault.ts";
import { RULE_KINDS } from "../../src/rules/kinds.ts";
import { parseRule } from "../../src/rules/parse.ts";
import type { RuleOptions } from "../../src/rules/rule.ts";
import { faultOf, OPTIONS, path, pathRequest, request, rule, says, TOOLS } from "./rule-bench.ts";
import { shellCall } from "./shell-bench.ts";

describe("a name that other agents use means our tools", () => {
  const rows: readonly (readonly [name: string, denied: readonly string[], allowed: readonly string[]])[] = [
    ["Grep", ["search", "ast_grep"], ["search"]],
    ["grep_search", ["search", "ast_grep"], ["search"]],
    ["search_file_content", ["search", "ast_grep"], ["search"]],
    ["LS", ["list"], ["list"]],
    ["list_directory", ["list"], ["list"]],
    ["Task", ["agent"], ["agent"]],
    ["MultiEdit", ["edit", "ast_edit"], ["edit"]],
    ["replace", ["edit", "ast_edit"], ["edit"]],
    ["apply_patch", ["write", "edit", "ast_edit"], ["write", "edit"]],
    ["NotebookEdit", ["write", "edit", "ast_edit"], []],
    ["TodoWrite", ["todo"], ["todo"]],
    ["update_plan", ["todo"], ["todo"]],
    ["terminal", ["shell", "runner"], ["shell", "runner"]],
    ["run_shell_command", ["shell", "runner"], ["shell", "runner"]],
    ["exec_command", ["shell", "runner"], ["shell", "runner"]],
    ["WRITE_FILE", ["write"], ["write"]],
    ["webfetch", ["fetch"], ["fetch"]],
    ["AskUserQuestion", ["ask"], []],
    ["WebSearch", [], []],
  ];
  const tools = { ...TOOLS, list: { kind: "search" }, ast_grep: { kind: "search" }, ast_edit: { kind: "edit" } };
  const options: RuleOptions = { ...OPTIONS, tools: { get: (name) => tools[name as "list"], names: () => Object.keys(tools) } };
  const covered = (verdict: Verdict, name: string): readonly string[] => {
    const read = parseRule({ verdict, at: { text: name } }, options);
    if (isFault(read)) return [];
    return Object.entries(tools).flatMap(([tool, { kind }]) => (read.concerns(tool, kind) ? [tool] : []));
  };
  for (const [name, denied, allowed] of rows) {
    test(`deny ${name} covers ${denied.join(", ") || "nothing"}`, () => {
      assert.deepEqual(covered("deny", name).toSorted(), denied.toSorted());
      assert.equal(rule("deny", name, options).verdict, "deny");
    });
    test(`allow ${name} covers ${allowed.join(", ") || "nothing"}`, () =>
      assert.deepEqual(covered("allow", name).toSorted(), allowed.toSorted()));
  }

  test("a tool of that very name is denied, too, and only it is allowed", () => {
    assert.deepEqual(covered("deny", "read_file"), ["read", "read_file"]);
    assert.deepEqual(covered("allow", "read_file"), ["read_file"]);
  });

  test("parentheses are read as for the built-in tool", () => {
    assert.equal(says(rule("deny", "run_shell_command(git push)"), shellCall("git push origin")), "yes");
    assert.equal(says(rule("deny", "write_file(src/**)"), pathRequest("write", path("/w/app/src/x"))), "yes");
    assert.equal(says(rule("allow", "write_file(src/**)"), pathRequest("write", path("/w/app/lib/x"))), "no");
  });
});

describe("how an example of a rule is put", () => {
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
  test("every rule kind has a row in this table and readings in rule-readings.txt", () => {
    const readings = readFileSync(new URL("rule-readings.txt", import.meta.url), "utf8");
    const groups = RULE_KINDS.flatMap((kind) => kind.groups.map(({ name }) => `${name}(`));
    const isCovered = (start: string): boolean => rows.some(([text]) => text.startsWith(start)) && readings.includes(`\n${start}`);
    assert.deepEqual(
      groups.filter((start) => !isCovered(start)),
      [],
    );
  });
  for (const [text, options, example] of rows) {
    test(`${text} ${options === none ? "where no tool is known" : ""}`, () => {
      const read = parseRule({ verdict: "deny", at: { text } }, options);
      const kept = isFault(read) ? read.rule : read;
      assert.deepEqual(kept?.example, example);
    });
  }
});

describe("agents by their names", () => {
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

test("WebFetch covers every tool that fetches", () => {
  const { concerns } = rule("deny", "WebFetch");
  assert.deepEqual([concerns("download", "fetch"), concerns("download", "read")], [true, false]);
});

describe("an option with its value", () => {
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

describe("a text that is too long to be read is looked at for plain words", () => {
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
