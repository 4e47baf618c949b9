import { compileGlob, type Json, type Request } from "@assent/core";
import type { MatchAnswer } from "../shell/walk/seen-command.ts";
import { catchPatternError, isFault, type RuleFault } from "./fault.ts";
import { escapeGlob } from "./path-glob.ts";
import type { RuleTest } from "./rule.ts";

/** Reads an agent name; an agent without a name is a fork. */
export function readAgentRule(specifier: string): RuleTest | RuleFault {
  const glob = catchPatternError(() => compileGlob(specifier.trim()), specifier);
  if (isFault(glob)) return glob;
  return { record: { agent: glob.text.toLowerCase() } satisfies Json, test: (request) => matchesAgent(glob.matches, request) };
}

/** The rule that "always" stores for starting this agent; never its prompt. */
export function offerAgentRule({ input: { agent } }: Request): string {
  return `Agent(${escapeGlob(typeof agent === "string" ? agent : "fork")})`;
}

function matchesAgent(matches: (name: string) => boolean, { input: { agent } }: Request): MatchAnswer {
  if (agent === undefined || agent === null) return matches("fork") ? "yes" : "no";
  return typeof agent === "string" && matches(agent) ? "yes" : "no";
}
