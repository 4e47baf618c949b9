import type { Maybe, Request, RequestFacts } from "@assent/core";
import type { HookEntry, HookSubject } from "@assent/core/parts";
import { isFault, type RuleFault } from "../rules/fault.ts";
import { parseRule } from "../rules/parse.ts";
import type { Rule, RuleOptions } from "../rules/rule.ts";

/** The compiled `if` of a hook, or why its text is no rule. */
export type HookCondition = { readonly test: NonNullable<HookEntry["test"]> } | { readonly fault: RuleFault };

/** Looks at what a call means before anyone judges it. */
export type HookFacts = (subject: HookSubject) => Maybe<RequestFacts>;

/** Compiles the `if` of a hook: a permission rule, read as broadly as a deny, so that doubt runs the hook. */
export function compileHookCondition(text: string, options: RuleOptions, facts: HookFacts): HookCondition {
  const parsed = parseRule({ verdict: "deny", at: { text } }, options);
  const rule = isFault(parsed) ? parsed.rule : parsed; // about a tool that is not there now it holds as soon as it is
  if (rule) return { test: (subject) => matchesSubject(rule, subject, facts) };
  return isFault(parsed) ? { fault: parsed } : { fault: { type: "rule_syntax", message: "it is no rule", hint: "" } };
}

async function matchesSubject(rule: Rule, subject: HookSubject, facts: HookFacts): Promise<boolean> {
  if (!rule.concerns(subject.tool, subject.kind)) return false;
  const { units, binds } = await facts(subject);
  const request: Request = { ...subject, toolDigest: "", binds, units };
  return units.some((unit) => rule.test(request, unit) !== "no");
}
