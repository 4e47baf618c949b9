import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Verdict } from "@assent/core";
import { createPolicyFacts } from "../../src/facts/facts.ts";
import { createPathLookup } from "../../src/paths/lookup.ts";
import { createReadDenyTest } from "../../src/rules/tool-rules.ts";
import { scratch } from "../scratch.ts";
import { bench } from "../workspace-bench.ts";
import { OPTIONS, rule } from "./rule-bench.ts";

function hides(t: TestContext, verdict: Verdict, text: string): (path: string) => boolean {
  const workspace = scratch(t);
  mkdirSync(join(workspace, "private"));
  writeFileSync(join(workspace, "private/key"), "");
  symlinkSync("private", join(workspace, "link"));
  const rules = [rule(verdict, text, { ...OPTIONS, roots: { settingsRoot: workspace, workspace, home: "/home/u" } })];
  const denies = createReadDenyTest({
    rules: () => rules,
    facts: createPolicyFacts({ workspace, look: createPathLookup({ workspace }) }),
    workspace,
  });
  return (path) => denies(join(workspace, path));
}

type Row = readonly [sentence: string, verdict: Verdict, rule: string, path: string, hidden: boolean];
const ROWS: readonly Row[] = [
  ["a deny of reading hides the file", "deny", "Read(private/**)", "private/key", true],
  ["and the directory", "deny", "Read(private/**)", "private", true],
  ["and what a link leads to", "deny", "Read(private/**)", "link/key", true],
  ["and another case of its name", "deny", "Read(private/**)", "PRIVATE/key", true],
  ["and nothing else", "deny", "Read(private/**)", "privates/key", false],
  ["so does the other notation", "deny", "read:file_path=private/*", "private/key", true],
  ["a deny of every tool hides everything", "deny", "*", "a", true],
  ["a deny of editing hides nothing", "deny", "Edit(private/**)", "private/key", false],
  ["an ask hides nothing", "ask", "Read(private/**)", "private/key", false],
  ["an allow hides nothing", "allow", "Read(private/**)", "private/key", false],
  ["a deny of another tool hides nothing", "deny", "Shell(cat)", "private/key", false],
];
for (const [sentence, verdict, text, path, hidden] of ROWS) {
  test(`${sentence}: ${verdict} ${text}, ${path}`, (t) => {
    assert.equal(hides(t, verdict, text)(path), hidden);
  });
}

test("rules that are read again count from then on", (t) => {
  const workspace = scratch(t);
  let rules = [rule("deny", "Read(//a)")];
  const denies = createReadDenyTest({
    rules: () => rules,
    facts: createPolicyFacts({ workspace, look: createPathLookup({ workspace }) }),
    workspace,
  });
  assert.deepEqual([denies("/a"), denies("/b")], [true, false]);
  rules = [rule("deny", "Read(//b)")];
  assert.deepEqual([denies("/a"), denies("/b")], [false, true]);
});

const HOSTS: readonly (readonly [sentence: string, lists: object, url: string, allowed: boolean])[] = [
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
for (const [sentence, permissions, url, allowed] of HOSTS) {
  test(`a host of the own network is ${allowed ? "" : "not "}fetched from: ${sentence}`, (t) => {
    assert.equal(bench(t, { permissions }).told.privateAllowed(url), allowed);
  });
}
