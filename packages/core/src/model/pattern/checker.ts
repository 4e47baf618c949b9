import type { NamedChecker, RuleRef, Scope, Verdict } from "../decision.ts";
import { PatternError } from "./error.ts";
import { matchesPattern, type Pattern, parsePattern, type Subject } from "./pattern.ts";

/** Rules of one layer: pattern texts, or references that say where the text stands and why. */
export type CheckerRules = {
  readonly label: string;
  readonly scope: Scope;
  readonly deny?: readonly (string | RuleRef)[];
  readonly ask?: readonly (string | RuleRef)[];
  readonly allow?: readonly (string | RuleRef)[];
  /** What the tool of this name declares; without it no alias is folded and nothing is read as a command. */
  readonly tools?: (name: string) => ToolShape | undefined;
};

/** What a tool declares about its input that rules depend on. */
export type ToolShape = Pick<Subject, "aliases" | "commandArg">;

/** A rule that was left out, and why. */
export type RuleWarning = { readonly rule: RuleRef; readonly message: string };

/**
 * A checker of compiled patterns. Within it: deny, then ask, then allow; order in a list and specificity mean nothing.
 * A broken deny or ask throws `PatternError`, because a policy without its guard must not be used; a broken allow is dropped with a warning.
 */
export function makeChecker(lists: CheckerRules): { readonly checker: NamedChecker; readonly warnings: readonly RuleWarning[] } {
  const warnings: RuleWarning[] = [];
  const rules = [
    ...(lists.deny ?? []).map((rule) => compileRule("deny", rule)),
    ...(lists.ask ?? []).map((rule) => compileRule("ask", rule)),
    ...(lists.allow ?? []).flatMap((rule) => compileAllow(rule, warnings)),
  ];
  const rulesFor = memoByTool(rules);
  const check: NamedChecker["check"] = ({ tool, input }) => {
    const candidates = rulesFor(tool);
    if (candidates.length === 0) return NONE;
    const subject = { ...lists.tools?.(tool), tool, input };
    return candidates.find(({ pattern, answer }) => matchesPattern(pattern, answer.verdict, subject))?.answer ?? NONE;
  };
  const deniesTool = (tool: string): boolean =>
    rulesFor(tool).some((rule) => isBareDeny(rule) && matchesPattern(rule.pattern, "deny", { tool, input: {} }));
  return { checker: { label: lists.label, scope: lists.scope, check, deniesTool }, warnings };
}

/** All checkers of several lists in their order; an absent or empty list adds nothing. */
export function mergeCheckers(...lists: readonly (readonly NamedChecker[] | undefined)[]): readonly NamedChecker[] {
  return lists.flatMap((list) => list ?? []);
}

type Rule = { readonly pattern: Pattern; readonly answer: { readonly verdict: Verdict; readonly rule: RuleRef } };

const NONE = Object.freeze({ verdict: "none" } as const);

function isBareDeny({ pattern, answer }: Rule): boolean {
  return answer.verdict === "deny" && pattern.conditions.length === 0;
}

function compileRule(verdict: Verdict, written: string | RuleRef): Rule {
  const rule = typeof written === "string" ? { text: written } : written;
  try {
    return { pattern: parsePattern(rule.text), answer: { verdict, rule } };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const { file, line } = rule;
    throw new PatternError({ ...error.about, ...(file !== undefined && { file }), ...(line !== undefined && { line }) });
  }
}

function compileAllow(written: string | RuleRef, warnings: RuleWarning[]): readonly Rule[] {
  try {
    return [compileRule("allow", written)];
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    warnings.push({ rule: typeof written === "string" ? { text: written } : written, message: `${error.message}; this allow is ignored` });
    return [];
  }
}

/** A tool's name decides first and never changes its mind, so that a call looks only at the rules of its own tool. */
function memoByTool(rules: readonly Rule[]): (tool: string) => readonly Rule[] {
  const known = new Map<string, readonly Rule[]>();
  return (tool) => {
    let found = known.get(tool);
    if (!found) {
      found = rules.filter(({ pattern }) => pattern.tool.matches(tool));
      known.set(tool, found);
    }
    return found;
  };
}
