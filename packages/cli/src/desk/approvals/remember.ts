import { isObject, type OpenApproval } from "@assent/core";
import { oneLine } from "../../io/visible-text.ts";
import { factNotes } from "./facts.ts";

/** Undefined if it can be remembered, or need not be. */
export function whyNotRemembered({ details, explicitAsk, suggestions, reason, source, facts }: OpenApproval): string | undefined {
  if (details.type === "plan" || reason === "edited") return undefined;
  if (explicitAsk || details.hideAlwaysAllow === true) return `${asker(reason, oneLine(source))} asks every time`;
  if (suggestions.length > 0) return undefined;
  return isRisky(facts) ? "no rule can cover the risks above" : "no rule can describe similar calls";
}

function asker(reason: string, source: string): string {
  if (reason === "checker") return `a rule from the ${source}`;
  return reason === "guard" || reason === "hook" ? `the ${reason === "guard" ? "safeguard" : reason} '${source}'` : "this call";
}

function isRisky(facts: OpenApproval["facts"]): boolean {
  const sensitive =
    isObject(facts) && Array.isArray(facts["paths"]) && facts["paths"].some((path) => isObject(path) && path["sensitive"] === true);
  return sensitive || factNotes(facts).some(([label]) => label === "risk");
}

/** The rule for the whole tool; none for shell commands. */
export function wholeToolRule({ details, tool, suggestions }: OpenApproval): readonly string[] {
  return details.type === "exec" || tool === "resolve" || suggestions.includes(tool) ? [] : [tool];
}
