import { isObject, type OpenApproval, type Remember } from "@assent/core";
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

/** The rule for the whole tool; none for shell commands. Rules for MCP tools are bound to their definition, so "always" alone covers the tool. */
function wholeToolRule({ details, tool, suggestions }: Pick<OpenApproval, "details" | "tool" | "suggestions">): readonly string[] {
  return details.type === "exec" || details.type === "mcp" || tool === "resolve" || suggestions.includes(tool) ? [] : [tool];
}

/** A way to remember an approval: its key, its words, and the rules that it stores. */
export type RuleOffer = {
  readonly key: string;
  readonly says: string;
  readonly scope: Remember["scope"];
  readonly rules: readonly string[];
  readonly risk: string | null;
};

type OfferedApproval = Pick<OpenApproval, "explicitAsk" | "details" | "suggestions" | "tool" | "agentName">;

/** The offers of "always", on every card. An explicit ask ignores grants, and an answer to a background agent is remembered for that agent alone. */
export function ruleOffers(approval: OfferedApproval): readonly RuleOffer[] {
  const { explicitAsk, details, suggestions, agentName } = approval;
  if (explicitAsk || details.hideAlwaysAllow === true || suggestions.length === 0) return [];
  const isMain = agentName === undefined;
  const whole = wholeToolRule(approval);
  const { wider } = details;
  const widest = isMain ? "project" : "session";
  return [
    { key: "s", says: "Always allow this in this session", scope: "session", rules: suggestions, risk: null },
    ...(whole.length > 0
      ? [{ key: "t", says: "Always allow this tool in this session", scope: "session", rules: whole, risk: null } as const]
      : []),
    ...(wider
      ? [{ key: "w", says: `Always allow these in this ${widest}`, scope: widest, rules: wider.rules, risk: wider.risk } as const]
      : []),
    ...(isMain
      ? ([
          { key: "p", says: "Always allow this in this project", scope: "project", rules: suggestions, risk: null },
          { key: "u", says: "Always allow this in all my projects", scope: "user", rules: suggestions, risk: null },
        ] as const)
      : []),
  ];
}
