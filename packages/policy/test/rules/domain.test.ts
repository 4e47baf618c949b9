import assert from "node:assert/strict";
import { test } from "node:test";
import { faultOf, request, rule, says, urlRequest } from "./rule-bench.ts";

type Row = readonly [sentence: string, specifier: string, url: string, allow: string, deny: string];

const table: readonly Row[] = [
  ["a domain is its host", "example.com", "https://example.com/x", "yes", "yes"],
  ["and its subdomains", "example.com", "https://a.b.example.com/", "yes", "yes"],
  ["domain: says the same", "domain:example.com", "https://a.example.com/", "yes", "yes"],
  ["= is only that host", "=example.com", "https://a.example.com/", "no", "no"],
  ["= is that host", "=example.com", "https://example.com/", "yes", "yes"],
  ["*. is only subdomains", "*.example.com", "https://example.com/", "no", "no"],
  ["*. is subdomains", "*.example.com", "https://a.example.com/", "yes", "yes"],
  ["a name that only ends the same way", "example.com", "https://badexample.com/", "no", "no"],
  ["the host in front of another domain", "docs.example.com", "https://docs.example.com.evil.test/", "no", "no"],
  ["the host as a user name", "docs.example.com", "https://docs.example.com@evil.test/", "no", "no"],
  ["case does not count", "Example.COM", "https://EXAMPLE.com/", "yes", "yes"],
  ["a final dot does not count", "example.com", "https://example.com./", "yes", "yes"],
  ["another port is the same host", "example.com", "https://example.com:8443/", "yes", "yes"],
  ["http is not allowed", "example.com", "http://example.com/", "no", "yes"],
  ["ftp is not allowed", "example.com", "ftp://example.com/", "no", "yes"],
  ["a user is not allowed", "example.com", "https://me@example.com/", "no", "yes"],
  ["a password is not allowed", "example.com", "https://:pw@example.com/", "no", "yes"],
  ["a backslash is not allowed", "example.com", "https://example.com\\x", "no", "yes"],
  ["a blank is not allowed", "example.com", "https://example.com/ x", "no", "yes"],
  ["a tab is not allowed", "example.com", "https://exa\tmple.com/", "no", "yes"],
  ["other letters are not allowed", "example.com", "https://ex\u00e4mple.com/", "no", "no"],
  ["letters that are mapped to these are not allowed", "example.com", "https://\uff45xample.com/", "no", "yes"],
  ["a label in other letters", "example.com", "https://xn--a-ecp.example.com/", "no", "yes"],
  ["other letters behind the host", "example.com", "https://example.com/caf\u00e9?q=\u00e9#x", "yes", "yes"],
  ["a blank of another kind", "example.com", "https://example.com/a\u00a0b", "no", "yes"],
  ["an invisible letter", "example.com", "https://example.com/a\u200bb", "no", "yes"],
  ["slashes that a parser puts right", "example.com", "https:example.com/", "no", "yes"],
  ["too many slashes", "example.com", "https:///example.com/", "no", "yes"],
  ["an address that is named", "127.0.0.1", "https://127.0.0.1/", "yes", "yes"],
  ["an address in decimal is the address", "127.0.0.1", "https://2130706433/", "yes", "yes"],
  ["an address in IPv6 clothes is denied, not allowed", "127.0.0.1", "https://[::ffff:127.0.0.1]/", "no", "yes"],
  ["an IPv6 address that is named", "=[::1]", "https://[::1]/", "yes", "yes"],
  ["localhost that is named", "localhost", "https://localhost/", "yes", "yes"],
  ["below localhost is not named", "localhost", "https://a.localhost/", "no", "yes"],
  ["below a house's name is not named", "corp.internal", "https://api.corp.internal/", "no", "yes"],
  ["a house's name that is named", "printer.local", "https://printer.local/", "yes", "yes"],
  ["no URL at all", "example.com", "example.com", "no", "doubt"],
];

for (const [sentence, specifier, url, allow, deny] of table) {
  test(`${sentence}: WebFetch(${specifier}) and ${JSON.stringify(url)}`, () => {
    assert.equal(says(rule("allow", `WebFetch(${specifier})`), urlRequest(url)), allow);
    assert.equal(says(rule("deny", `Fetch(${specifier})`), urlRequest(url)), deny);
  });
}

const bare: readonly (readonly [url: string, allow: string])[] = [
  ["https://example.com/", "yes"],
  ["http://example.com/", "no"],
  ["https://127.1/", "no"],
  ["https://localhost/", "no"],
  ["https://db.internal/", "no"],
];

for (const [url, allow] of bare) {
  test(`an allow of all fetches says ${allow} to ${url}`, () => {
    assert.equal(says(rule("allow", "WebFetch"), urlRequest(url)), allow);
    assert.equal(says(rule("allow", "*"), urlRequest(url)), allow);
    assert.equal(says(rule("deny", "WebFetch"), urlRequest(url)), "yes");
  });
}

test("a fetch without facts is not allowed, and a deny is in doubt", () => {
  const about = request("fetch", { url: "https://example.com/" });
  assert.equal(says(rule("allow", "WebFetch(example.com)"), about), "no");
  assert.equal(says(rule("allow", "WebFetch"), about), "no");
  assert.equal(says(rule("deny", "WebFetch(example.com)"), about), "doubt");
});

for (const specifier of [
  "https://example.com",
  "example.com:443",
  "example.com/x",
  "a*.example.com",
  "exa mple.com",
  "u@example.com",
  "=",
  "domain:",
  "example.com?x",
  "[x]",
]) {
  test(`WebFetch(${specifier}) is not a domain`, () => {
    const fault = faultOf("deny", `WebFetch(${specifier})`);
    assert.equal(fault.type, "rule_syntax");
    assert.match(fault.hint, /fetch:url=/);
  });
}

test("an allow for other letters never holds, so it is a fault; a deny finds them", () => {
  assert.equal(faultOf("allow", "WebFetch(bücher.example)").type, "rule_syntax");
  assert.equal(says(rule("deny", "WebFetch(bücher.example)"), urlRequest("https://xn--bcher-kva.example/")), "yes");
});
