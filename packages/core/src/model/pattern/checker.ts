import type { NamedChecker, RuleRef, Scope, Verdict } from "../decision.ts";
import { PatternError } from "./error.ts";
import { matchesPattern, type Pattern, parsePattern, type Subject, UNREAD_COMMAND } from "./pattern.ts";

/** The rules of one layer, as texts or as references with location and reason. */
export type CheckerRules = {
  readonly label: string;
  readonly scope: Scope;
  readonly deny?: readonly (string | RuleRef)[];
  readonly ask?: readonly (string | RuleRef)[];
  readonly allow?: readonly (string | RuleRef)[];
  /** What a tool declares. The `command` of a tool of kind `execute` is read as a command line in any case. */
  readonly tools?: (name: string) => ToolShape | undefined;
};

/** What rules need to know about a tool's input. */
export type ToolShape = Pick<Subject, "aliases" | "commandArg">;

/** A rule that was left out, and why. */
export type RuleWarning = { readonly rule: RuleRef; readonly message: string };

/**
 * Compiles patterns into a checker: deny, then ask, then allow, regardless of order and specificity. A broken deny or
 * ask throws `PatternError`, because dropping it would loosen the policy; a broken allow is dropped with a warning.
 */
export function makeChecker(lists: CheckerRules): { readonly checker: NamedChecker; readonly warnings: readonly RuleWarning[] } {
  const warnings: RuleWarning[] = [];
  const rules = [
    ...(lists.deny ?? []).map((rule) => compileRule("deny", rule)),
    ...(lists.ask ?? []).map((rule) => compileRule("ask", rule)),
    ...(lists.allow ?? []).flatMap((rule) => compileAllow(rule, warnings)),
  ];
  const rulesFor = memoByTool(rules);
  const check: NamedChecker["check"] = ({ tool, kind, input }) => {
    const candidates = rulesFor(tool);
    if (candidates.length === 0) return NONE;
    const subject = { ...(kind === "execute" && UNREAD_COMMAND), ...lists.tools?.(tool), tool, input };
    return candidates.find(({ pattern, answer }) => matchesPattern(pattern, answer.verdict, subject))?.answer ?? NONE;
  };
  const deniesTool = (tool: string): boolean =>
    rulesFor(tool).some((rule) => isBareDeny(rule) && matchesPattern(rule.pattern, "deny", { tool, input: {} }));
  return { checker: { label: lists.label, scope: lists.scope, check, deniesTool }, warnings };
}

/** Joins lists of checkers in order. */
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

/** Rules that cover a tool name never change, so a call looks only at its own tool's rules. */
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
