import { CONCURRENCY_SAFE_KINDS, type Request, type Unit, type Verdict } from "@assent/core";
import { hostOf, pathOf, shellOf } from "../facts/units.ts";
import type { Broad } from "../shell/walk/seen-command.ts";
import { isPlainUrl } from "./domain.ts";
import { isSettled } from "./path.ts";
import type { Rule, RuleOptions } from "./rule.ts";
import { allowsAnyCommand } from "./shell-allow.ts";
import { shapeOf } from "./tool-groups.ts";

/** A rule about whole tools: a deny or ask means every call, an allow every call of which nothing is odd. */
export function wholeTest(verdict: Verdict, options: RuleOptions): Rule["test"] {
  return verdict === "allow" ? (request, unit) => (allows(options, request, unit) ? "yes" : "no") : yes;
}

function yes(): Broad {
  return "yes";
}

function allows(options: RuleOptions, request: Request, unit: Unit): boolean {
  const shell = shellOf(unit);
  if (shell) return allowsAnyCommand(shell, options.scripts);
  const path = pathOf(unit);
  if (path) return isSettled(request, path);
  const host = hostOf(unit);
  return host ? isPlainUrl(host) : !isUnread(options, request);
}

/** The tool declares what it acts on, and still nobody has looked at it. */
function isUnread({ tools }: RuleOptions, { tool, kind }: Request): boolean {
  const shape = shapeOf(tools, tool);
  if (!shape) return false;
  return (
    shape.commandArg !== undefined || shape.urlArg !== undefined || (shape.pathArgs !== undefined && !CONCURRENCY_SAFE_KINDS.includes(kind))
  );
}
