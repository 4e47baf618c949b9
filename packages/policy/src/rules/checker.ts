import type { NamedChecker, Request, RuleRef, Scope, Unit, Verdict } from "@assent/core";
import { getShellUnit } from "../facts/units.ts";
import { scanLongText } from "../shell/match/long-text.ts";
import type { MatchAnswer } from "../shell/walk/seen-command.ts";
import type { Rule } from "./rule.ts";

/** The rules of one layer. */
export type RuleLayer = { readonly label: string; readonly scope: Scope; readonly rules: readonly Rule[] };

/**
 * A checker of compiled rules. Within it: deny, then ask, then allow; order and specificity mean nothing. An ask that is in doubt asks; a deny in doubt is
 * the business of a guard.
 */
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

/** Whether a rule speaks, by what its test said. */
export function ruleHolds({ verdict }: Pick<Rule, "verdict">, answer: MatchAnswer): boolean {
  return answer === "yes" || (answer === "doubt" && verdict === "ask");
}

/** Finds the first deny that can neither be found to hold nor ruled out. */
export function createDoubtFinder(rules: readonly Rule[]): (request: Request, unit: Unit) => Rule | undefined {
  const deniesFor = indexByTool(rules.flatMap((rule) => (rule.verdict === "deny" ? [{ rule }] : [])));
  return (request, unit) => {
    if (isTooLong(unit)) return undefined; // the guard of limits asks about it
    return deniesFor(request).find(({ rule }) => rule.test(request, unit) === "doubt")?.rule;
  };
}

/** The rules in one canonical text, for the policy's revision. */
export function canonicalRules(rules: readonly Rule[]): string {
  return rules.map(({ record }) => record).join("\n");
}

type RuleAnswer = { readonly rule: Rule; readonly answer: { readonly verdict: Verdict; readonly rule: RuleRef } };

const ORDER: readonly Verdict[] = ["deny", "ask", "allow"];
const NONE = Object.freeze({ verdict: "none" } as const);

function isTooLong(unit: Unit): boolean {
  return getShellUnit(unit)?.line.tooLong === true;
}

/** One scan for the words of all denies, one for those of all asks; an allow never holds for such a line. */
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

/** A tool's name and kind decide first and never change their mind, so that a call looks only at the rules of its own tool. */
function indexByTool<E extends Pick<RuleAnswer, "rule">>(entries: readonly E[]): (request: Request) => readonly E[] {
  const known = new Map<string, readonly E[]>();
  return ({ tool, kind }) => {
    const key = `${kind} ${tool}`;
    const found = known.get(key) ?? entries.filter(({ rule }) => rule.concerns(tool, kind));
    known.set(key, found);
    return found;
  };
}
