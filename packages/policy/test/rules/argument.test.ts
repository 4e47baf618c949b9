import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, Verdict } from "@assent/core";
import fc from "fast-check";
import type { RuleTool } from "../../src/rules/rule.ts";
import { faultOf, OPTIONS, path, pathRequest, request, rule, says, urlRequest } from "./rule-bench.ts";

type Row = readonly [sentence: string, text: string, how: Verdict | "both", tool: string, input: JsonObject, matches: boolean];

const table: readonly Row[] = [
  ["read_*", "read_*", "both", "read_file", {}, true],
  ["*_file", "*_file", "both", "read_file", {}, true],
  ["read_???e", "read_???e", "both", "read_file", {}, true],
  ["[rw]*_file", "[rw]*_file", "both", "read_file", {}, true],
  ["??? is three characters", "???", "both", "abcd", {}, false],
  ["all tools of a server", "mcp__tracker__*", "both", "mcp__tracker__close_ticket", {}, true],
  ["a number is plain decimal", "t:n=1000000", "both", "t", { n: 1000000 }, true],
  ["a boolean", "t:flag=true", "both", "t", { flag: true }, true],
  ["a text that reads like it", "t:flag=true", "both", "t", { flag: "true" }, true],
  ["an escaped star is a star", "foo\\*", "both", "foo*", {}, true],
  ["an escaped star is only a star", "foo\\*", "both", "foobar", {}, false],
  ["an allow needs every element", "t:paths=lib/*", "allow", "t", { paths: ["lib/a", "/etc/b"] }, false],
  ["a deny needs one element", "t:paths=lib/*", "deny", "t", { paths: ["lib/a", "/etc/b"] }, true],
  ["an ask needs one element", "t:paths=lib/*", "ask", "t", { paths: ["lib/a", "/etc/b"] }, true],
  ["a dot reaches into an object", "t:o.k=x", "both", "t", { o: { k: "x" } }, true],
  ["composed matches decomposed", "na\u00efve*", "both", "nai\u0308ve x", {}, true],
  ["a missing argument does not match", "t:a=*", "both", "t", { b: 1 }, false],
  ["all conditions must hold", "t:a=x:b=y", "both", "t", { a: "x", b: "z" }, false],
  ["all conditions hold", "t:a=x:b=y", "both", "t", { a: "x", b: "y" }, true],
  ["a server's tools with an argument", "mcp__tracker:id=1*", "both", "mcp__tracker__get_ticket", { id: 12 }, true],
  ["every tool with an argument", "*:id=1*", "both", "mcp__tracker__get_ticket", { id: 12 }, true],
  ["a name means its tool alone", "read:file_path=*", "both", "read_file", { file_path: "x" }, false],
  ["a regular expression is plain text", "t:a=^(x|y)+$", "both", "t", { a: "x" }, false],
  ["a regular expression matches only itself", "t:a=^(x|y)+$", "both", "t", { a: "^(x|y)+$" }, true],
];

for (const [sentence, text, how, tool, input, matches] of table) {
  for (const verdict of how === "both" ? (["allow", "ask", "deny"] as const) : [how]) {
    test(`${sentence} (${verdict})`, () => assert.equal(says(rule(verdict, text), request(tool, input)), matches ? "yes" : "no"));
  }
}

const broken: readonly (readonly [sentence: string, text: string, type: string, column: number])[] = [
  ["an unclosed class", "a[", "rule_bad_glob", 2],
  ["an empty text", "", "rule_syntax", 1],
  ["blanks alone", "  ", "rule_syntax", 1],
  ["an empty tool", ":command=x", "rule_syntax", 1],
  ["an empty argument name", "shell:=x", "rule_syntax", 6],
  ["a colon in the tool part", "mcp:tracker", "rule_syntax", 4],
  ["a dangling backslash", "t:a=x\\", "rule_bad_glob", 6],
  ["an unclosed class in a value", "t:a=x:b=[y", "rule_bad_glob", 9],
  ["a repeated argument", "t:a=x:a=z", "rule_syntax", 7],
  ["a column counts from the text as written", "  t:a=x:a=z", "rule_syntax", 9],
  ["a range that ends before it starts", "t:a=[z-a]", "rule_bad_glob", 6],
];

for (const [sentence, text, type, column] of broken) {
  for (const verdict of ["allow", "ask", "deny"] as const) {
    test(`${sentence} is an error with its column (${verdict})`, () => {
      const { type: found, column: at } = faultOf(verdict, text);
      assert.deepEqual([found, at], [type, column]);
    });
  }
}

test("a glob of 200 stars against 100 KB that almost match takes a linear number of steps, and an answer", () => {
  const text = `t:a=${"*a".repeat(200)}b`;
  const value = "a".repeat(100_000);
  assert.equal(says(rule("deny", text), request("t", { a: value })), "no");
  assert.equal(says(rule("deny", `read:file_path=${"*a".repeat(200)}b`), pathRequest("read", path(`/w/app/${value}`))), "no");
  assert.equal(says(rule("deny", `Read(${"*a".repeat(200)}b)`), pathRequest("read", path(`/w/app/${value}`))), "no");
  assert.equal(says(rule("deny", `Read(${"**/a/".repeat(200)}b)`), pathRequest("read", path(`/w/app/${"a/".repeat(20_000)}`))), "no");
});

type PathRow = readonly [sentence: string, text: string, value: string, real: string, allow: string, deny: string];

const paths: readonly PathRow[] = [
  ["a declared path", "read:file_path=src/*", "src/a.ts", "/w/app/src/a.ts", "yes", "yes"],
  ["a declared path written whole", "read:file_path=/w/app/src/*", "/w/app/src/a.ts", "/w/app/src/a.ts", "yes", "yes"],
  ["a path that only begins there", "read:file_path=src/*", "src/../../etc/x", "/w/etc/x", "no", "yes"],
  ["a link that leads out", "read:file_path=src/*", "src/out/x", "/var/www/x", "no", "yes"],
  ["a link that leads in is denied", "read:file_path=secret/*", "pub/x", "/w/app/secret/x", "no", "yes"],
  ["another spelling is denied", "read:file_path=secret/*", "./secret/x", "/w/app/secret/x", "no", "yes"],
  ["the whole path is denied", "read:file_path=secret/*", "/w/app/secret/x", "/w/app/secret/x", "no", "yes"],
  ["another case is denied, not allowed", "read:file_path=secret/*", "Secret/x", "/w/app/Secret/x", "no", "yes"],
  ["trailing dots are denied", "read:file_path=*.env", ".env.", "/w/app/.env.", "no", "yes"],
  ["another path", "read:file_path=secret/*", "src/x", "/w/app/src/x", "no", "no"],
];

for (const [sentence, text, value, real, allow, deny] of paths) {
  test(`${sentence}: ${text}`, () => {
    const lexical = new URL(value, "file:///w/app/").pathname;
    const about = pathRequest("read", path(lexical, { real }), { file_path: value });
    assert.equal(says(rule("allow", text), about), allow);
    assert.equal(says(rule("deny", text), about), deny);
  });
}

test("a deny about a path that cannot be resolved is in doubt", () => {
  assert.equal(says(rule("deny", "read:file_path=secret/*"), pathRequest("read", path("/w/app/x", { real: null }))), "doubt");
});

test("without path facts, a deny checks the shortest form or is in doubt, and an allow does not apply", () => {
  const raw = (file_path: string): ReturnType<typeof request> => request("read", { file_path });
  assert.equal(says(rule("deny", "read:file_path=secret/*"), raw("./a/../secret/x")), "yes");
  assert.equal(says(rule("deny", "read:file_path=secret/*"), raw("src/x")), "doubt");
  assert.equal(says(rule("deny", "read:file_path=secret/*"), request("read")), "no");
  assert.equal(says(rule("allow", "read:file_path=src/*"), raw("src/x")), "no");
});

test("a condition on one path argument says nothing about the other's path", () => {
  const input = { from: "src/a", to: "lib/b" };
  const from = pathRequest("move_file", path("/w/app/src/a"), input);
  const to = pathRequest("move_file", path("/w/app/lib/b"), input);
  assert.equal(says(rule("allow", "move_file:from=src/*:to=lib/*"), from), "yes");
  assert.equal(says(rule("allow", "move_file:from=src/*:to=lib/*"), to), "yes");
  assert.equal(says(rule("allow", "move_file:from=src/*:to=src/*"), to), "no");
  assert.equal(says(rule("deny", "move_file:to=*/b"), to), "yes");
});

type UrlRow = readonly [text: string, url: string, allow: string, deny: string];

const urls: readonly UrlRow[] = [
  ["fetch:url=https://api.test/*", "https://api.test/x", "yes", "yes"],
  ["fetch:url=https://api.test/*", "https://api.test:443/x", "no", "yes"],
  ["fetch:url=https://api.test/*", "HTTPS://API.test/x", "yes", "yes"],
  ["fetch:url=https://api.test", "https://api.test", "yes", "yes"],
  ["fetch:url=https://api.test/a/*", "https://api.test/a/../b", "no", "yes"],
  ["fetch:url=https://api.test/a/*", "https://api.test/a/%2e%2e/b", "no", "yes"],
  ["fetch:url=https://api.test/b", "https://api.test/a/../b", "no", "yes"],
  ["fetch:url=https://api.test/*", "https://me@api.test/x", "no", "yes"],
  ["fetch:url=https://api.test/*", "https://api.test./x", "no", "yes"],
  ["fetch:url=https://*.api.test/*", "https://a.api.test/x", "yes", "yes"],
  ["fetch:url=https://*.api.test/*", "https://evil.test/.api.test/x", "no", "yes"],
  ["fetch:url=http://api.test/*", "http://api.test/x", "yes", "yes"],
  ["fetch:url=http://localhost:3000/*", "http://localhost:3000/x", "yes", "yes"],
  ["fetch:url=http://api.test/*", "http://evil.test/x", "no", "no"],
  ["fetch:url=https://*", "https://api.test/x", "yes", "yes"],
  ["fetch:url=https://*", "https://localhost/x", "no", "yes"],
  ["fetch:url=*", "http://api.test/x", "no", "yes"],
];

for (const [text, url, allow, deny] of urls) {
  test(`${text} and ${url}`, () => {
    assert.equal(says(rule("allow", text), urlRequest(url)), allow);
    assert.equal(says(rule("deny", text), urlRequest(url)), deny);
  });
}

for (const text of [
  "fetch:url=https://api.test*",
  "fetch:url=*api.test/*",
  "fetch:url=https://a*.test/",
  "fetch:url=api.test/*",
  "fetch:url=http*",
]) {
  test(`${text} names no host, so it can only forbid`, () => {
    const { type, hint } = faultOf("allow", text);
    assert.equal(type, "rule_syntax");
    assert.match(hint, /https:\/\/example\.com\//);
    assert.equal(rule("deny", text).verdict, "deny");
  });
}

test("a glob name is read for each tool it means", () => {
  const of = rule("deny", "*:url=https://api.test/*");
  assert.equal(says(of, urlRequest("https://API.test:443/x")), "yes");
  assert.equal(says(of, request("t", { url: "https://api.test/x" })), "yes");
  assert.equal(says(of, request("t", { url: "HTTPS://API.test:443/x" })), "no");
  assert.equal(faultOf("allow", "*:url=*api*").type, "rule_syntax");
});

test("an allow does not cover a later tool whose argument it cannot read", () => {
  const tools = new Map<string, RuleTool>([["a_fetch", { kind: "other" }]]);
  const of = rule("allow", "*_fetch:url=*x*", { ...OPTIONS, tools: { get: (name) => tools.get(name), names: () => [...tools.keys()] } });
  tools.set("b_fetch", { kind: "fetch", urlArg: "url" });
  assert.equal(says(of, request("a_fetch", { url: "https://x/" })), "yes");
  assert.equal(says(of, { ...urlRequest("https://x/"), tool: "b_fetch" }), "no");
});

const argument = fc.constantFrom("a", "b", "c");
const conditions = fc.uniqueArray(fc.tuple(argument, fc.constantFrom("x", "*", "y?", "[a-z]")), {
  minLength: 1,
  selector: ([name]) => name,
});

test("the order of conditions never matters: one record, one answer", () => {
  fc.assert(
    fc.property(conditions, fc.dictionary(argument, fc.constantFrom("x", "yz", "")), (some, input) => {
      const texts = [some, some.toReversed()].map((list) => `t${list.map(([name, glob]) => `:${name}=${glob}`).join("")}`);
      const [one, other] = texts.map((text) => rule("deny", text));
      assert.equal(one?.record, other?.record);
      assert.equal(one && says(one, request("t", input)), other && says(other, request("t", input)));
    }),
  );
});
