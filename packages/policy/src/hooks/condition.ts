import type { Maybe, Request, RequestFacts } from "@assent/core";
import type { HookEntry, HookSubject } from "@assent/core/parts";
import { isFault, type RuleFault } from "../rules/fault.ts";
import { parseRule } from "../rules/parse.ts";
import type { Rule, RuleOptions } from "../rules/rule.ts";

/** The compiled `if` of a hook, or why it is not a valid rule. */
export type HookCondition = { readonly test: NonNullable<HookEntry["test"]> } | { readonly fault: RuleFault };

/** Describes a call before it is judged. */
export type HookFacts = (subject: HookSubject) => Maybe<RequestFacts>;

/** Compiles the `if` of a hook. It is read as broadly as a deny, so that in doubt the hook runs. */
export function compileHookCondition(text: string, options: RuleOptions, facts: HookFacts): HookCondition {
  const parsed = parseRule({ verdict: "deny", at: { text } }, options);
  const rule = isFault(parsed) ? parsed.rule : parsed; // a rule about a missing tool applies once the tool exists
  if (rule) return { test: (subject) => matchesSubject(rule, subject, facts) };
  return isFault(parsed) ? { fault: parsed } : { fault: { type: "rule_syntax", message: "this is not a rule", hint: "" } };
}

async function matchesSubject(rule: Rule, subject: HookSubject, facts: HookFacts): Promise<boolean> {
  if (!rule.concerns(subject.tool, subject.kind)) return false;
  const { units, binds } = await facts(subject);
  const request: Request = { ...subject, toolDigest: "", binds, units };
  return units.some((unit) => rule.test(request, unit) !== "no");
}
