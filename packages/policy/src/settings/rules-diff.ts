import type { Rule } from "../rules/rule.ts";
import type { LoadedPolicy } from "./load-policy.ts";

/** Rules that differ between two policies, ignoring notation and place. */
export type RulesDiff = {
  readonly added: readonly Rule[];
  readonly removed: readonly Rule[];
  readonly changed: readonly { readonly from: Rule; readonly to: Rule }[];
};

/** Compares the rules of two policies. */
export function diffRules(old: Pick<LoadedPolicy, "rules">, next: Pick<LoadedPolicy, "rules">): RulesDiff {
  const removed = withoutMatches(old.rules, next.rules);
  const added = withoutMatches(next.rules, old.rules);
  const changed: { readonly from: Rule; readonly to: Rule }[] = [];
  for (const from of [...removed]) {
    const to = added.find((rule) => subjectOf(rule) === subjectOf(from));
    if (!to) continue;
    changed.push({ from, to });
    removed.splice(removed.indexOf(from), 1);
    added.splice(added.indexOf(to), 1);
  }
  return { added, removed, changed };
}

function withoutMatches(rules: readonly Rule[], others: readonly Rule[]): Rule[] {
  const left = new Map<string, number>();
  for (const { record } of others) left.set(record, (left.get(record) ?? 0) + 1);
  return rules.filter(({ record }) => {
    const count = left.get(record) ?? 0;
    left.set(record, count - 1);
    return count <= 0;
  });
}

function subjectOf({ record }: Rule): string {
  const { verdict: _, ...subject }: { readonly verdict?: unknown } = JSON.parse(record);
  return JSON.stringify(subject);
}
