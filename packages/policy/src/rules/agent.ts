import { compileGlob, type Json, type Request } from "@assent/core";
import type { Broad } from "../shell/walk/seen-command.ts";
import { catchPattern, isFault, type RuleFault } from "./fault.ts";
import { literalGlob } from "./path-glob.ts";
import type { RuleTest } from "./rule.ts";

/** Reads the name of an agent; one without a name is a fork. */
export function readAgentRule(specifier: string): RuleTest | RuleFault {
  const glob = catchPattern(() => compileGlob(specifier.trim()), specifier);
  if (isFault(glob)) return glob;
  return { record: { agent: glob.text.toLowerCase() } satisfies Json, test: (request) => isAgent(glob.matches, request) };
}

/** What an "always" for starting this agent stores: never its prompt. */
export function offerAgentRule({ input: { agent } }: Request): string {
  return `Agent(${literalGlob(typeof agent === "string" ? agent : "fork")})`;
}

function isAgent(matches: (name: string) => boolean, { input: { agent } }: Request): Broad {
  if (agent === undefined || agent === null) return matches("fork") ? "yes" : "no";
  return typeof agent === "string" && matches(agent) ? "yes" : "no";
}
