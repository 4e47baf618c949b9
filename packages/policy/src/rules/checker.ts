import type { NamedChecker, Request, RuleRef, Scope, Unit, Verdict } from "@assent/core";
import { getShellUnit } from "../facts/units.ts";
import { scanLongText } from "../shell/match/long-text.ts";
import type { MatchAnswer } from "../shell/walk/seen-command.ts";
import type { Rule } from "./rule.ts";

export type RuleLayer = { readonly label: string; readonly scope: Scope; readonly rules: readonly Rule[] };

/** Creates a checker of compiled rules: deny first, then ask, then allow. An ask in doubt asks; a deny in doubt is left to a safeguard. */
export function createRuleChecker({ label, scope, rules }: RuleLayer): NamedChecker {
  const ordered = ORDER.flatMap((verdict) => rules.filter((rule) => rule.verdict === verdict));
  const entriesFor = indexByTool(ordered.map((rule) => ({ rule, answer: Object.freeze({ verdict: rule.verdict, rule: rule.at }) })));
  const check: NamedChecker["check"] = (request, unit) => {
    const entries = entriesFor(request);
    if (entries.length === 0) return NONE;
    const found = isTooLong(unit)
      ? findInLongText(entries, request, unit)
      : entries.find(({ rule }) => ruleHolds(rule, rule.test(request, unit)));
    return found?.answer ?? NONE;
  };
  const deniesTool = (tool: string, kind: string): boolean => ordered.some(({ bare, concerns }) => bare && concerns(tool, kind));
  return { label, scope, check, deniesTool };
}

/** True if a rule applies, given its test's answer. */
export function ruleHolds({ verdict }: Pick<Rule, "verdict">, answer: MatchAnswer): boolean {
  return answer === "yes" || (answer === "doubt" && verdict === "ask");
}

/** Finds the first deny that can neither be confirmed nor ruled out. */
export function createDoubtFinder(rules: readonly Rule[]): (request: Request, unit: Unit) => Rule | undefined {
  const deniesFor = indexByTool(rules.flatMap((rule) => (rule.verdict === "deny" ? [{ rule }] : [])));
  return (request, unit) => {
    if (isTooLong(unit)) return undefined; // the analysis-limit safeguard asks about it
    return deniesFor(request).find(({ rule }) => rule.test(request, unit) === "doubt")?.rule;
  };
}

/** The rules as one canonical text, for the policy's revision. */
export function canonicalRules(rules: readonly Rule[]): string {
  return rules.map(({ record }) => record).join("\n");
}

type RuleAnswer = { readonly rule: Rule; readonly answer: { readonly verdict: Verdict; readonly rule: RuleRef } };

const ORDER: readonly Verdict[] = ["deny", "ask", "allow"];
const NONE = Object.freeze({ verdict: "none" } as const);

function isTooLong(unit: Unit): boolean {
  return getShellUnit(unit)?.line.tooLong === true;
}

/** Scans once for all denies and once for all asks; allows never apply to such a line. */
function findInLongText(entries: readonly RuleAnswer[], request: Request, unit: Unit): RuleAnswer | undefined {
  const text = getShellUnit(unit)?.line.text ?? "";
  for (const verdict of ["deny", "ask"] as const) {
    const said = entries.filter(({ rule }) => rule.verdict === verdict);
    const scanned = said.filter(({ rule }) => rule.plainWords);
    const hit = scanLongText(
      text,
      scanned.map(({ rule }) => rule.plainWords ?? []),
    );
    const found = hit === undefined ? said.find(({ rule }) => !rule.plainWords && ruleHolds(rule, rule.test(request, unit))) : scanned[hit];
    if (found) return found;
  }
  return undefined;
}

/** Indexes rules by tool, so that a call only looks at its own. */
function indexByTool<E extends Pick<RuleAnswer, "rule">>(entries: readonly E[]): (request: Request) => readonly E[] {
  const known = new Map<string, readonly E[]>();
  return ({ tool, kind }) => {
    const key = `${kind} ${tool}`;
    const found = known.get(key) ?? entries.filter(({ rule }) => rule.concerns(tool, kind));
    known.set(key, found);
    return found;
  };
}
