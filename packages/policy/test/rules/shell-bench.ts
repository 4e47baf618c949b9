import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { JsonObject, Request } from "@assent/core";
import { pathScope } from "../../src/path-scope.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { analyseShell } from "../../src/shell/analyse.ts";
import { request } from "./rule-bench.ts";

/** A workspace of this file's tests, with a package that has scripts. */
export const WORKSPACE = realpathSync(mkdtempSync(join(tmpdir(), "assent-test-")));
writeFileSync(join(WORKSPACE, "package.json"), JSON.stringify({ scripts: { test: "node --test", lint: "biome check" } }));
after(() => rmSync(WORKSPACE, { recursive: true, force: true }));

const look = pathScope({ workspace: WORKSPACE });

/** A call of a shell tool in that workspace, with every command a unit. */
export function shellCall(command: string, { tool = "shell", input = { command } as JsonObject, workspace = WORKSPACE } = {}): Request {
  const place = {
    cwd: workspace,
    workspace,
    home: "/home/u",
    look: workspace === WORKSPACE ? look : pathScope({ workspace }),
    programPath: ["/usr/bin"],
  };
  return { ...request(tool, input, analyseShell(command, place).units), kind: "execute", cwd: workspace };
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
