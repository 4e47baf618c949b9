import { CONCURRENCY_SAFE_KINDS, type Request, type Unit, type Verdict } from "@assent/core";
import { getHostFact, getPathFact, getShellUnit } from "../facts/units.ts";
import type { MatchAnswer } from "../shell/walk/seen-command.ts";
import { isPlainUrl } from "./domain.ts";
import { isPathSettled } from "./path.ts";
import type { Rule, RuleOptions } from "./rule.ts";
import { allowsAnyCommand } from "./shell-allow.ts";
import { getRuleTool } from "./tool-groups.ts";

/** A rule about whole tools: deny and ask mean every call, an allow every call without anything unusual. */
export function createWholeTest(verdict: Verdict, options: RuleOptions): Rule["test"] {
  return verdict === "allow" ? (request, unit) => (allowsUnit(options, request, unit) ? "yes" : "no") : always;
}

function always(): MatchAnswer {
  return "yes";
}

function allowsUnit(options: RuleOptions, request: Request, unit: Unit): boolean {
  const shell = getShellUnit(unit);
  if (shell) return allowsAnyCommand(shell, options.scripts);
  const path = getPathFact(unit);
  if (path) return isPathSettled(request, path);
  const host = getHostFact(unit);
  return host ? isPlainUrl(host) : !isUninspected(options, request);
}

/** The tool declares what it acts on, but nothing inspected it. */
function isUninspected({ tools }: RuleOptions, { tool, kind }: Request): boolean {
  const shape = getRuleTool(tools, tool);
  if (!shape) return false;
  return (
    shape.commandArg !== undefined || shape.urlArg !== undefined || (shape.pathArgs !== undefined && !CONCURRENCY_SAFE_KINDS.includes(kind))
  );
}
