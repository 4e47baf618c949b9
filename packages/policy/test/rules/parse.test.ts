import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "../../src/rules/fault.ts";
import { parseRule } from "../../src/rules/parse.ts";
import { faultOf, OPTIONS, path, pathRequest, request, rule, says } from "./rule-bench.ts";

/** Table 2.1: which tools a name covers. Every other tool of the list is not covered. */
const covers: readonly (readonly [name: string, tools: readonly string[]])[] = [
  ["Shell", ["shell", "runner"]],
  ["Bash", ["shell", "runner"]],
  ["shell", ["shell", "runner"]],
  ["SHELL", ["shell", "runner"]],
  ["Read", ["read", "search", "list", "glob", "ast_grep"]],
  ["Edit", ["write", "edit", "ast_edit", "move_file"]],
  ["Write", ["write", "edit", "ast_edit", "move_file"]],
  ["WebFetch", ["fetch"]],
  ["Fetch", ["fetch"]],
  ["Agent", ["agent"]],
  ["todo", ["todo"]],
  ["TODO", ["todo"]],
  ["re*", ["read", "read_file"]],
];

const KINDS: Readonly<Record<string, string>> = { list: "search", glob: "search", ast_grep: "search", ast_edit: "edit" };
const ALL = [...OPTIONS.tools.names(), ...Object.keys(KINDS)];

for (const [name, tools] of covers) {
  for (const written of [name, `${name}()`, `${name}(*)`, ` ${name} `]) {
    test(`'${written}' covers ${tools.join(", ")} and no other tool`, () => {
      for (const verdict of ["allow", "ask", "deny"] as const) {
        const { concerns, record } = rule(verdict, written);
        const covered = ALL.filter((tool) => concerns(tool, KINDS[tool] ?? OPTIONS.tools.get(tool)?.kind ?? ""));
        assert.deepEqual(covered.toSorted(), tools.toSorted());
        assert.equal(record, rule(verdict, name).record);
      }
    });
  }
}

test("* covers every tool but the runtime's own, which only a deny by name covers", () => {
  const own = ["ask", "resolve", "enter_plan_mode"];
  for (const verdict of ["allow", "ask", "deny"] as const) {
    const { concerns } = rule(verdict, "*");
    for (const tool of OPTIONS.tools.names()) assert.equal(concerns(tool, "other"), !own.includes(tool), tool);
  }
  for (const name of own) {
    assert.equal(says(rule("deny", name), request(name)), "yes");
    assert.equal(says(rule("deny", name.toUpperCase()), request(name)), "yes");
    assert.equal(says(rule("deny", `${name.slice(0, -1)}?`), request(name)), "no");
    assert.equal(faultOf("allow", name).type, "rule_unknown_tool");
    assert.equal(faultOf("ask", name).type, "rule_unknown_tool");
  }
});

test("an allow of tools never covers the apply of a pending action; an allow that spells it does, and denies and asks always do", () => {
  const apply = { ...request("read", { file_path: "a" }), tool: "read.apply", kind: "other" } as const;
  const rows: readonly (readonly [text: string, allows: boolean, denies: boolean])[] = [
    ["read.apply", true, true],
    ["READ.Apply", true, true],
    ["*.apply", true, true],
    ["r*.apply", true, true],
    ["read.apply:file_path=a", true, true],
    ["read.apply:file_path=b", false, false],
    ["*", false, true],
    ["read*", false, true],
    ["Read", false, false],
    ["read", false, false],
    ["edit.apply", false, false],
  ];
  for (const [text, allows, denies] of rows) {
    for (const verdict of ["allow", "ask", "deny"] as const) {
      const { concerns, test: says } = rule(verdict, text);
      const covered = concerns(apply.tool, apply.kind) && says(apply, { subject: apply.tool }) === "yes";
      assert.equal(covered, verdict === "allow" ? allows : denies, `${verdict} ${text}`);
    }
  }
  assert.equal(faultOf("allow", "nothing_there.apply").type, "rule_unknown_tool");
  assert.match(faultOf("deny", ".apply").message, /empty|no tool/);
});

test("a deny of whole tools is bare, any other rule is not", () => {
  for (const text of ["Shell", "Shell()", "Shell(*)", "*", "mcp__tracker", "read_*"]) assert.equal(rule("deny", text).bare, true, text);
  for (const text of ["Read(x)", "t:a=*"]) assert.equal(rule("deny", text).bare, false, text);
  assert.equal(rule("allow", "Shell").bare, false);
});

const agents: readonly (readonly [rule: string, agent: string | undefined, answer: string])[] = [
  ["Agent(explorer)", "explorer", "yes"],
  ["Agent(Explorer)", "explorer", "yes"],
  ["Agent(exp*)", "explorer", "yes"],
  ["Agent(exp)", "explorer", "no"],
  ["Agent(fork)", undefined, "yes"],
  ["Agent(explorer)", undefined, "no"],
  ["Agent", "explorer", "yes"],
];

for (const [text, agent, answer] of agents) {
  test(`${text} and ${agent ?? "a fork"}`, () => {
    const about = request("agent", agent === undefined ? { prompt: "explorer" } : { agent, prompt: "x" });
    for (const verdict of ["allow", "deny"] as const) assert.equal(says(rule(verdict, text), about), answer);
  });
}

const syntax: readonly (readonly [sentence: string, text: string, column: number])[] = [
  ["an unclosed parenthesis", "Read(x", 6],
  ["something after the parenthesis", "Read(x) y", 8],
  ["a blank before the parenthesis", "Read (x)", 5],
  ["a specifier on every tool", "*(x)", 2],
  ["a specifier on a tool that declares nothing", "todo(x)", 5],
  ["a name with a dot", "a.b", 2],
];

for (const [sentence, text, column] of syntax) {
  test(`${sentence} is rule_syntax with its column`, () => {
    for (const verdict of ["allow", "deny"] as const) {
      const { type, column: at, hint } = faultOf(verdict, text);
      assert.deepEqual([type, at], ["rule_syntax", column]);
      assert.notEqual(hint, "");
    }
  });
}

test("the specifier runs to the last parenthesis; those inside need no escape", () => {
  const about = pathRequest("read", path("/w/app/a (1)/b).ts"));
  for (const verdict of ["allow", "deny"] as const) assert.equal(says(rule(verdict, "Read(a (1)/b).ts)"), about), "yes");
});

test("a tool that declares a path may have one in parentheses", () => {
  const about = pathRequest("move_file", path("/w/app/src/x"), { from: "src/x" });
  assert.equal(says(rule("allow", "move_file(src/**)"), about), "yes");
  assert.equal(says(rule("allow", "move_*(src/**)"), about), "yes");
  assert.equal(says(rule("allow", "move_file(lib/**)"), about), "no");
  assert.equal(says(rule("allow", "move_file(src/**)"), pathRequest("write", path("/w/app/src/x"))), "no");
});

test("a specifier after several tools is read as what each of them declares", () => {
  const of = rule("deny", "*e(x)");
  assert.equal(says(of, pathRequest("write", path("/w/app/x"))), "yes");
  assert.equal(says(of, pathRequest("move_file", path("/w/app/y"))), "no");
});

test("an allow for an unknown tool is a fault; a deny is a warning and holds once the tool is there", () => {
  const allow = faultOf("allow", "nope");
  assert.deepEqual([allow.type, allow.rule], ["rule_unknown_tool", undefined]);
  for (const verdict of ["ask", "deny"] as const) {
    const { type, rule: kept } = faultOf(verdict, "Nope");
    assert.equal(type, "rule_unknown_tool");
    assert.equal(kept && says(kept, request("nope")), "yes");
  }
  const bound = faultOf("deny", "nope(src/x)").rule;
  assert.equal(bound && says(bound, pathRequest("nope", path("/w/app/src/x"))), "yes");
  assert.equal(bound && says(bound, pathRequest("nope", path("/w/app/src/y"))), "no");
  assert.equal(bound && says(bound, request("nope")), "doubt");
  const conditional = faultOf("deny", "nope:a=x").rule;
  assert.equal(conditional && says(conditional, request("nope", { a: "x" })), "yes");
});

test("an unknown tool name gets a hint where to find the names", () => {
  assert.match(faultOf("deny", "nope").hint, /assent tools/);
});

test("a rule has at most 4,096 characters", () => {
  const longest = `t:a=${"x".repeat(4092)}`;
  assert.equal(isFault(parseRule({ verdict: "deny", at: { text: longest } }, OPTIONS)), false);
  assert.equal(faultOf("deny", `${longest}x`).type, "rule_syntax");
});

test("a rule keeps its text, place and reason as written", () => {
  const at = { text: " Read(x) ", source: "user", file: "f.json", line: 3, column: 7, because: "why" };
  const read = parseRule({ verdict: "deny", at }, OPTIONS);
  assert.ok(!isFault(read));
  assert.deepEqual(read.at, at);
});
