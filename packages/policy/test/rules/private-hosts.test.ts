import assert from "node:assert/strict";
import { test } from "node:test";
import { bench } from "../workspace-bench.ts";

const ROWS: readonly (readonly [sentence: string, lists: object, url: string, allowed: boolean])[] = [
  ["an allow names the very host", { allow: ["WebFetch(127.0.0.1)"] }, "https://127.0.0.1/x", true],
  ["in another case, with a port", { allow: ["WebFetch(LOCALHOST)"] }, "https://LocalHost:8080/", true],
  ["in the other notation", { allow: ["fetch:url=http://127.0.0.1:3000/*"] }, "http://127.0.0.1:3000/a", true],
  ["another address", { allow: ["WebFetch(127.0.0.1)"] }, "https://127.0.0.2/", false],
  ["any host", { allow: ["WebFetch"] }, "https://127.0.0.1/", false],
  ["every tool", { allow: ["*"] }, "https://127.0.0.1/", false],
  ["a rule that names it and means another tool", { allow: ["Shell(curl 127.0.0.1)"] }, "https://127.0.0.1/", false],
  ["an ask", { ask: ["WebFetch(127.0.0.1)"] }, "https://127.0.0.1/", false],
  ["a deny", { deny: ["WebFetch(127.0.0.1)"] }, "https://127.0.0.1/", false],
  ["plain http where the rule says https", { allow: ["WebFetch(127.0.0.1)"] }, "http://127.0.0.1/", false],
  ["a URL without a host", { allow: ["WebFetch(127.0.0.1)"] }, "data:127.0.0.1", false],
  ["no URL", { allow: ["WebFetch(127.0.0.1)"] }, "127.0.0.1", false],
];
for (const [sentence, permissions, url, allowed] of ROWS) {
  test(`a host of the own network is ${allowed ? "" : "not "}fetched from: ${sentence}`, (t) => {
    assert.equal(bench(t, { permissions }).told.privateAllowed(url), allowed);
  });
}
