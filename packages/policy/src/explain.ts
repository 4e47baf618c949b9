import type { Containment, Decision, Json, RuleRef, TraceEntry, Verdict } from "@assent/core";
import { type Assessment, decide } from "@assent/core/parts";
import { getShellUnit } from "./facts/units.ts";
import { createRuleChecker } from "./rules/checker.ts";
import type { Rule } from "./rules/rule.ts";
import type { JudgedCommand, Plan } from "./shell/plan/plan.ts";

/** Why a request would be decided as it would, with the plan and facts behind it. */
export type Explanation = {
  readonly verdict: Verdict;
  readonly reason: string;
  readonly source: string;
  readonly rule: (RuleRef & { readonly source: string }) | null;
  readonly unit: number;
  readonly units: number;
  readonly trace: readonly TraceEntry[];
  /** Shell tools only. */
  readonly plan?: Omit<Plan, "commands"> & { readonly commands: readonly JudgedCommand[] };
  /** Where a command would run; absent if confinement is off. */
  readonly containment?: Containment;
  /** Path and fetch tools. */
  readonly facts?: Json;
  /** Set if the call is staged; everything else then describes applying it. */
  readonly staging?: StagingExplanation;
  /** Allow rules whose words match but that cannot allow it, and why. */
  readonly misses: readonly RuleMiss[];
  readonly revision: string;
  /** The versions that the policy's files name. */
  readonly policyVersion?: string;
};

/** An allow rule that matches a part of the request but cannot allow it. */
export type RuleMiss = { readonly rule: RuleRef; readonly unit: number; readonly why: string };

/** Why a call is staged, and the decision about staging, which only reads. */
export type StagingExplanation = Pick<Explanation, "verdict" | "reason" | "source" | "rule" | "units" | "trace"> & {
  /** The rule of `proposals.stage`; null if the tool always stages. */
  readonly by: RuleRef | null;
};

/** The assessment of a staged call as a read, and the rules of `proposals.stage`. */
export type StagedCall = { readonly reading: Assessment; readonly rules: readonly Rule[] };

/** Explains an assessed request; `rules` are those that may be named as misses. Asks, starts and writes nothing. */
export function explain(assessed: Assessment, staged?: StagedCall, rules: readonly Rule[] = []): Explanation {
  const { request, decision, facts, policy } = assessed;
  const { verdict, reason, source, unit, units, trace } = decision;
  const line = request.units[0] && getShellUnit(request.units[0])?.line;
  return {
    verdict,
    reason,
    source,
    rule: ruleWithSource(decision),
    unit,
    units,
    trace,
    ...(line && { plan: { ...line.plan, digest: line.plan.digest, commands: judgeCommands(assessed) } }),
    ...(request.containment && { containment: request.containment }),
    ...(!line && facts.view !== undefined && { facts: facts.view }),
    ...(staged && { staging: explainStaging(assessed, staged) }),
    misses: verdict === "allow" ? [] : findMisses(assessed, rules),
    revision: policy.revision,
    ...(policy.version !== undefined && { policyVersion: policy.version }),
  };
}

/** The trace names deny and ask rules; only an allow can match and not count. */
function findMisses({ request, circumstances }: Assessment, rules: readonly Rule[]): readonly RuleMiss[] {
  const allows = rules.filter(({ verdict, whyNot, concerns }) => verdict === "allow" && whyNot && concerns(request.tool, request.kind));
  if (allows.length === 0) return [];
  return request.units.flatMap((unit, index) => {
    const misses = allows.flatMap(({ at, whyNot }) => {
      const limit = whyNot?.(unit);
      return limit ? [{ rule: at, unit: index, why: limit.why }] : [];
    });
    return misses.length === 0 || decide({ ...request, units: [unit] }, circumstances).verdict === "allow" ? [] : misses;
  });
}

function explainStaging({ request }: Assessment, { reading: { decision }, rules }: StagedCall): StagingExplanation {
  const { verdict, reason, source, units, trace } = decision;
  const { check } = createRuleChecker({ label: "proposals.stage", scope: "policy", rules });
  const [said] = request.units.map((unit) => check(request, unit)).filter((opinion) => opinion.verdict !== "none");
  return { by: said?.rule ?? null, verdict, reason, source, rule: ruleWithSource(decision), units, trace };
}

function ruleWithSource({ rule, source }: Decision): Explanation["rule"] {
  return rule ? { ...rule, source: rule.source ?? source } : null;
}

function judgeCommands({ request, circumstances }: Assessment): readonly JudgedCommand[] {
  return request.units.flatMap((unit) => {
    const command = getShellUnit(unit)?.command;
    if (!command) return [];
    const { verdict, rule, source, reason } = decide({ ...request, units: [unit] }, circumstances);
    return [{ ...command, verdict, ...(rule && { rule: rule.text }), source: source || reason }];
  });
}
