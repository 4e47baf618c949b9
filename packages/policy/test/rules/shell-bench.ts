import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { JsonObject, Request } from "@assent/core";
import { createPolicyFacts } from "../../src/facts/facts.ts";
import { createPathLookup } from "../../src/paths/lookup.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { request } from "./rule-bench.ts";

/** A workspace of this file's tests, with a package that has scripts. */
export const WORKSPACE = realpathSync(mkdtempSync(join(tmpdir(), "assent-test-")));
writeFileSync(join(WORKSPACE, "package.json"), JSON.stringify({ scripts: { test: "node --test", lint: "biome check" } }));
after(() => rmSync(WORKSPACE, { recursive: true, force: true }));

/** A call of a shell tool in that workspace, with every command a unit. */
export function shellCall(command: string, { tool = "shell", input = { command } as JsonObject, workspace = WORKSPACE } = {}): Request {
  const facts = createPolicyFacts({ workspace, look: createPathLookup({ workspace }) });
  const found = facts({ tool, kind: "execute", input: { command }, cwd: workspace, locations: undefined });
  assert.ok(!(found instanceof Promise));
  return { ...request(tool, input, found.units), kind: "execute", cwd: workspace };
}

/** What a rule says of each unit. */
export function answers(rule: Rule, about: Request): readonly string[] {
  return about.units.map((unit) => rule.test(about, unit));
}

/** Whether an allow covers the whole line. */
export function allows(rule: Rule, about: Request): boolean {
  return answers(rule, about).every((answer) => answer === "yes");
}

/** The strictest thing a deny or ask says of a line. */
export function strongest(rule: Rule, about: Request): string {
  const all = answers(rule, about);
  return all.includes("yes") ? "yes" : all.includes("doubt") ? "doubt" : "no";
}
