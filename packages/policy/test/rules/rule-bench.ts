import assert from "node:assert/strict";
import type { Json, JsonObject, Kind, Request, Unit, Verdict } from "@assent/core";
import { createHostUnit, createPathUnit } from "../../src/facts/units.ts";
import type { PathFact } from "../../src/paths/lookup.ts";
import { isFault, type RuleFault } from "../../src/rules/fault.ts";
import { parseRule } from "../../src/rules/parse.ts";
import type { Rule, RuleOptions, RuleTool } from "../../src/rules/rule.ts";

/** The tools that rules in these tests speak of. */
export const TOOLS: Readonly<Record<string, RuleTool>> = {
  shell: { kind: "execute", commandArg: "command", aliases: { cmd: "command" } },
  read: { kind: "read", pathArgs: ["file_path"] },
  search: { kind: "search", pathArgs: ["path"] },
  write: { kind: "edit", pathArgs: ["file_path"] },
  edit: { kind: "edit", pathArgs: ["file_path"] },
  fetch: { kind: "fetch", urlArg: "url" },
  agent: { kind: "other" },
  ask: { kind: "other" },
  resolve: { kind: "edit", pathArgs: ["id"] },
  enter_plan_mode: { kind: "other" },
  todo: { kind: "think" },
  read_file: { kind: "read" },
  move_file: { kind: "move", pathArgs: ["from", "to"] },
  runner: { kind: "execute", commandArg: "line" },
  t: { kind: "other" },
  abcd: { kind: "other" },
  "foo*": { kind: "other" },
  foobar: { kind: "other" },
  "nai\u0308ve x": { kind: "other" },
  mcp__tracker__close_ticket: { kind: "other" },
  mcp__tracker__get_ticket: { kind: "other" },
  mcp__other__get_ticket: { kind: "other" },
};

/** How rules are read in these tests: workspace `/w/app`, home `/home/u`, settings of the workspace. */
export const OPTIONS: RuleOptions = {
  tools: { get: (name) => TOOLS[name], names: () => Object.keys(TOOLS) },
  roots: { settingsRoot: "/w/app", workspace: "/w/app", home: "/home/u" },
};

/** A rule that must be read. */
export function rule(verdict: Verdict, text: string, options: RuleOptions = OPTIONS): Rule {
  const read = parseRule({ verdict, at: { text } }, options);
  assert.ok(!isFault(read), isFault(read) ? read.message : "");
  return read;
}

/** The fault of a text that must not be read. */
export function faultOf(verdict: Verdict, text: string, options: RuleOptions = OPTIONS): RuleFault {
  const read = parseRule({ verdict, at: { text } }, options);
  assert.ok(isFault(read), `${text} was read`);
  return read;
}

/** A request for a tool of `TOOLS`. */
export function request(tool: string, input: JsonObject = {}, units: readonly Unit[] = [{ subject: tool }]): Request {
  const kind = (TOOLS[tool]?.kind ?? "other") as Kind;
  return { tool, toolDigest: "d", kind, input, cwd: "/w/app", binds: {}, units };
}

/** What is known of a path that leads where it says, or where `about` says. */
export function path(lexical: string, about: Partial<PathFact> = {}): PathFact {
  return {
    absolute: lexical,
    lexical: lexical.normalize("NFC"),
    real: lexical,
    inside: lexical.startsWith("/w/app/"),
    sensitive: false,
    control: false,
    ownOutput: false,
    planFile: false,
    isProtected: () => false,
    anchor: () => null,
    hazards: [],
    writeHazards: [],
    ...about,
  };
}

/** A request about one path. */
export function pathRequest(tool: string, fact: PathFact, input: JsonObject = { file_path: fact.absolute }): Request {
  return request(tool, input, [createPathUnit(fact)]);
}

/** A request about one URL. */
export function urlRequest(url: Json & string, tool = "fetch"): Request {
  const read = URL.parse(url);
  return request(tool, { url }, [createHostUnit({ url, host: read ? read.hostname.replace(/\.$/, "") : null })]);
}

/** What a rule says of a request's first unit; `no` where the tool is not its business. */
export function says(of: Rule, about: Request): string {
  const [unit] = about.units;
  return unit && of.concerns(about.tool, about.kind) ? of.test(about, unit) : "no";
}
