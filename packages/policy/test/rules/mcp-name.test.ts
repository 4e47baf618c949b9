import assert from "node:assert/strict";
import { test } from "node:test";
import { isServerName } from "../../src/rules/mcp-name.ts";
import { faultOf, request, rule, says } from "./rule-bench.ts";

for (const [name, good] of [
  ["tracker", true],
  ["my-server_2", true],
  ["a".repeat(32), true],
  ["a".repeat(33), false],
  ["", false],
  ["a__b", false],
  ["a.b", false],
  ["a_", false],
  ["_a", false],
] as const) {
  test(`'${name}' is ${good ? "a valid" : "not a valid"} server name`, () => assert.equal(isServerName(name), good));
}

type Row = readonly [pattern: string, tool: string, covered: boolean];

const table: readonly Row[] = [
  ["mcp__tracker__close_ticket", "mcp__tracker__close_ticket", true],
  ["MCP__Tracker__Close_Ticket", "mcp__tracker__close_ticket", true],
  ["mcp__tracker", "mcp__tracker__get_ticket", true],
  ["mcp__tracker__*", "mcp__tracker__get_ticket", true],
  ["mcp__tracker__get_*", "mcp__tracker__get_ticket", true],
  ["mcp__tracker__get_*", "mcp__tracker__close_ticket", false],
  ["mcp__tracker", "mcp__other__get_ticket", false],
  ["mcp__track", "mcp__tracker__get_ticket", false],
];

for (const [pattern, tool, covered] of table) {
  for (const verdict of ["allow", "deny"] as const) {
    test(`${verdict} ${pattern} and ${tool}`, () => {
      assert.equal(says(rule(verdict, pattern), request(tool)), covered ? "yes" : "no");
    });
  }
}

test("a server's name and its star are one rule", () => {
  assert.equal(rule("allow", "mcp__tracker").record, rule("allow", "mcp__tracker__*").record);
});

for (const pattern of ["mcp__*__get_ticket", "mcp__*", "mcp__track?r", "mcp__[t]racker__x"]) {
  test(`${pattern} is for deny and ask only`, () => {
    assert.equal(faultOf("allow", pattern).type, "rule_syntax");
    assert.equal(rule("deny", pattern).concerns("mcp__tracker__get_ticket", "other"), pattern !== "mcp__[t]racker__x");
    assert.equal(rule("ask", pattern).verdict, "ask");
  });
}

for (const pattern of ["mcp__tracker(x)", "mcp__tracker__get_ticket(**)", "mcp__", "mcp__tracker__", "mcp____x"]) {
  test(`${pattern} is not a valid rule`, () => assert.equal(faultOf("deny", pattern).type, "rule_syntax"));
}

test("a tool of a server is never unknown, the server may be away", () => {
  assert.equal(rule("allow", "mcp__away__x").concerns("mcp__away__x", "other"), true);
});
