import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Request } from "@assent/core";
import { getShellUnit } from "../../src/facts/units.ts";
import { isFault } from "../../src/rules/fault.ts";
import { createGrantRules, grantCovers, offerRules, offerWiderRules, readGrant } from "../../src/rules/grants.ts";
import { OPTIONS, path, pathRequest, request, rule, urlRequest } from "./rule-bench.ts";
import { allows, shellCall } from "./shell-bench.ts";

type Row = readonly [sentence: string, request: Request, rules: readonly string[]];

const table: readonly Row[] = [
  ["a modelled command that reads", shellCall("git log -5"), ["Shell(git log)"]],
  ["one without a sub-command", shellCall("ls -la"), ["Shell(ls)"]],
  ["harmless options in front of a sub-command are no part of it", shellCall("git --no-pager status"), ["Shell(git status)"]],
  ["a version", shellCall("node --version"), ["Shell(node --version)"]],
  ["another literal command: all words, no star", shellCall("make lint"), ["Shell(make lint)"]],
  ["a command that no table has", shellCall("cargo build --release"), ["Shell(cargo build --release)"]],
  ["a command that writes", shellCall("git add -A"), ["Shell(git add -A)"]],
  ["words that need quotes", shellCall("make 'a b' \"it's\" '*'"), ["Shell(make 'a b' 'it'\\''s' '*')"]],
  ["a compound: one rule for each part", shellCall("git log -5 && make lint | wc -l"), ["Shell(git log)", "Shell(make lint)", "Shell(wc)"]],
  ["a part twice: one rule", shellCall("git log -5; git log -6"), ["Shell(git log)"]],
  ["a wrapper: what it runs is covered with it", shellCall("timeout 5 make lint"), ["Shell(timeout 5 make lint)"]],
  ["a compound with one hazard", shellCall("make lint && ls $X"), []],
  ["a hazard", shellCall("git log --output=x"), []],
  ["a sub-command that no table has", shellCall("git push"), ["Shell(git push)"]],
  ["a sub-command that runs hooks", shellCall("git commit -m 'fix it'"), ["Shell(git commit -m 'fix it')"]],
  ["dynamic words", shellCall("make $X"), []],
  ["opaque with inline code", shellCall("python3 -c 'print(1)'"), []],
  ["inline code in a cluster", shellCall("bash -lc 'make lint'"), []],
  ["inline code behind a wrapper", shellCall("env node -e 1"), []],
  ["a script by its name", shellCall("python3 x.py"), ["Shell(python3 x.py)"]],
  ["a file outside", shellCall("cat /etc/hosts"), []],
  ["a program by its relative path", shellCall("./x"), []],
  ["a line that does not parse", shellCall("make 'x"), []],
  ["a line that is too long", shellCall(`make ${"x".repeat(5_000)}`), []],
  ["a word with a line break", shellCall("make 'a\nb'"), []],
  ["an edit in the workspace", pathRequest("edit", path("/w/app/src/a/b.ts")), ["Edit(/src/a/b.ts)"]],
  ["a write", pathRequest("write", path("/w/app/x")), ["Edit(/x)"]],
  ["a read outside", pathRequest("read", path("/etc/hosts")), ["Read(//etc/hosts)"]],
  ["a name that looks like a glob", pathRequest("edit", path("/w/app/[a]{b,c}*?.ts")), ["Edit(/\\[a]\\{b,c}\\*\\?.ts)"]],
  ["a tool that declares paths", pathRequest("move_file", path("/w/app/x")), ["move_file(/x)"]],
  ["a sensitive file", pathRequest("read", path("/w/app/.env", { sensitive: true })), []],
  ["a path through a link", pathRequest("edit", path("/w/app/x", { real: "/w/app/y" })), []],
  ["a path that cannot be resolved", pathRequest("edit", path("/w/app/x", { real: null })), []],
  ["a fetch", urlRequest("https://docs.example.com/x"), ["WebFetch(=docs.example.com)"]],
  ["a fetch without https", urlRequest("http://docs.example.com/x"), []],
  ["a fetch with a password", urlRequest("https://a:b@docs.example.com/x"), []],
  ["a tool of a server", request("mcp__tracker__close_ticket", { id: 1 }), ['{"rule":"mcp__tracker__close_ticket","bind":{"tool":"d"}}']],
  ["an agent, never its prompt", request("agent", { agent: "explorer", prompt: "x" }), ["Agent(explorer)"]],
  ["a fork", request("agent", { prompt: "x" }), ["Agent(fork)"]],
  ["any other tool", request("t", { a: 1 }), ["t"]],
  ["a tool whose name looks like a glob", request("foo*"), ["foo\\*"]],
  ["the runtime's own", request("ask"), []],
  ["a read without facts", request("read", { file_path: "x" }), []],
  ["a fetch without facts", request("fetch", { url: "https://x.test/" }), []],
  ["a shell call without facts", request("shell", { command: "ls" }), []],
];

const rules = createGrantRules(OPTIONS);

for (const [sentence, about, offered] of table) {
  test(`9: ${sentence}: ${offered.join(", ") || "once only"}`, () => {
    assert.deepEqual(rules.offer(about), offered);
    const understood = offered.map((text) => rules.parse(text));
    if (offered.length > 0) assert.ok(about.units.every((unit) => understood.some((one) => one.covers(about, unit))));
  });
}

test("what is offered for git log does not cover git log --output=x", () => {
  const [text = ""] = rules.offer(shellCall("git log -5"));
  const other = shellCall("git log --output=x");
  assert.equal(rules.parse(text).covers(other, other.units[0]!), false);
});

test("9: parts that are allowed already need no rule", () => {
  const allow = rule("allow", "Shell(git log)");
  const about = shellCall("git log -5 && make lint");
  assert.deepEqual(offerRules(about, { ...OPTIONS, allowed: (one, unit) => allow.test(one, unit) === "yes" }), ["Shell(make lint)"]);
});

test("9: npm test is bound to its script", () => {
  const about = shellCall("npm test");
  const script = getShellUnit(about.units[0]!)?.script?.digest ?? "";
  const [text = ""] = rules.offer(about);
  assert.deepEqual(JSON.parse(text), { rule: "Shell(npm test)", bind: { script } });
  assert.equal(rules.parse(text).covers(about, about.units[0]!), true);
  const other = JSON.stringify({ rule: "Shell(npm test)", bind: { script: "sha256:0" } });
  assert.equal(rules.parse(other).covers(about, about.units[0]!), false);
});

test("the directory is a second choice for an edit inside a directory of the workspace", () => {
  const risk = "It covers all files in src/a, new ones too.";
  assert.deepEqual(offerWiderRules(pathRequest("edit", path("/w/app/src/a/b.ts")), OPTIONS), { rules: ["Edit(/src/a/**)"], risk });
  assert.equal(offerWiderRules(pathRequest("edit", path("/w/app/b.ts")), OPTIONS), undefined);
  assert.equal(offerWiderRules(pathRequest("read", path("/etc/hosts")), OPTIONS), undefined);
  assert.equal(offerWiderRules(pathRequest("edit", path("/w/app/src/.env", { sensitive: true })), OPTIONS), undefined);
});

for (const text of ["", "a[", "nope", "{", '{"rule": 1}', '{"rule": "t", "bind": 1}', "ask"]) {
  test(`a grant cannot be read from '${text}'`, () => assert.throws(() => rules.parse(text), /./));
}

test("4: a grant reads as narrowly as an allow, and never covers what is hazardous or sensitive", () => {
  const covers = (text: string, about: Request): boolean => about.units.every((unit) => rules.parse(text).covers(about, unit));
  assert.equal(covers("Shell", shellCall("git status")), true);
  for (const command of ["git log --output=x", "ls $X", "cat .env", "make lint", "X=1 ls"])
    assert.equal(covers("Shell", shellCall(command)), false, command);
  assert.equal(covers("Read", pathRequest("read", path("/etc/hosts"))), true);
  assert.equal(covers("Read", pathRequest("read", path("/w/app/.env", { sensitive: true }))), false);
  assert.equal(covers("Read(.env)", pathRequest("read", path("/w/app/.env", { sensitive: true }))), false);
  assert.equal(covers("Edit", pathRequest("read", path("/w/app/x"))), false);
  assert.equal(covers("mcp__tracker", request("mcp__tracker__get_ticket")), true);
  assert.equal(covers("*", request("ask")), false);
});

test("a grant for a tool of a server covers only the definition that was approved", () => {
  const about = request("mcp__tracker__close_ticket", { id: 1 });
  const [offered = ""] = rules.offer(about);
  const covers = (one: Request): boolean => one.units.every((unit) => rules.parse(offered).covers(one, unit));
  assert.equal(covers(about), true);
  assert.equal(covers({ ...about, toolDigest: "changed" }), false);
  assert.equal(covers({ ...about, tool: "mcp__tracker__get_ticket" }), false);
});

test("a rule that is offered allows the same request when it is promoted to a settings file of the workspace", () => {
  for (const [, about, offered] of table) {
    if (offered.length === 1 && about.units.every((unit) => getShellUnit(unit)))
      assert.equal(allows(rule("allow", offered[0]!), about), true);
  }
});

const bound = (value: unknown): string => JSON.stringify(value);
const SCRIPT = `sha256:${"0".repeat(64)}`;

describe("the text of a grant", () => {
  const read: readonly (readonly [sentence: string, text: string])[] = [
    ["a rule", "Edit(src/**)"],
    ["a rule object without a bind", bound({ rule: "Edit(src/**)" })],
    ["a rule object behind blanks", `  ${bound({ rule: "Edit(src/**)" })}`],
    ["a rule that is bound to a script", bound({ rule: "Shell(npm test)", bind: { script: SCRIPT } })],
  ];
  for (const [sentence, text] of read) {
    test(`${sentence} is read, and kept as it is written`, () => {
      const rule = readGrant(text, OPTIONS);
      assert.ok(!isFault(rule));
      assert.deepEqual([rule.verdict, rule.at], ["allow", { text }]);
    });
  }

  const refused: readonly (readonly [sentence: string, text: string, message: RegExp])[] = [
    ["braces that are no JSON", "{rule}", /rule object/u],
    ["an object without a rule", bound({ bind: { script: SCRIPT } }), /rule object/u],
    ["a rule that is not a string", bound({ rule: 1 }), /rule object/u],
    ["a bind that is not an object", bound({ rule: "Shell(npm test)", bind: SCRIPT }), /needs the digest/u],
    ["a bind without a script", bound({ rule: "Shell(npm test)", bind: {} }), /needs the digest/u],
    ["a script that is not a string", bound({ rule: "Shell(npm test)", bind: { script: 1 } }), /needs the digest/u],
    ["a rule that cannot be read", "Edit([)", /class/u],
  ];
  for (const [sentence, text, message] of refused) {
    test(`${sentence} is refused`, () => {
      const rule = readGrant(text, OPTIONS);
      assert.ok(isFault(rule), "it was read");
      assert.match(rule.message, message);
    });
  }
});

describe("what a grant covers", () => {
  const rows: readonly (readonly [sentence: string, text: string, tool: string, sensitive: boolean, covered: boolean])[] = [
    ["what its rule allows", "Edit(src/**)", "write", false, true],
    ["nothing sensitive", "Edit(src/**)", "write", true, false],
    ["no other tool", "Edit(src/**)", "read", false, false],
    ["no other path", "Edit(lib/**)", "write", false, false],
  ];
  for (const [sentence, text, tool, sensitive, covered] of rows) {
    test(`${sentence}: ${text}`, () => {
      const rule = readGrant(text, OPTIONS);
      const about = pathRequest(tool, path("/w/app/src/a", { sensitive }));
      const [unit] = about.units;
      assert.ok(!isFault(rule) && unit);
      assert.equal(grantCovers(rule, about, unit), covered);
    });
  }
});
