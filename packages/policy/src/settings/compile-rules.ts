import { canonicalJson, messageOf } from "@assent/core";
import { checkExamples, type ExampleOptions, type ExampleTrial } from "../rules/examples.ts";
import { isFault, type RuleFault } from "../rules/fault.ts";
import { parseRule } from "../rules/parse.ts";
import type { Rule, RuleOptions, WrittenRule } from "../rules/rule.ts";
import { unknownToolFault } from "../rules/tool-part.ts";
import { type Layer, mayApply } from "./layers.ts";
import { problemEffect, type SettingsProblem } from "./problem.ts";
import type { RuleEntry } from "./read-settings.ts";
import { type RuleKey, SETTINGS } from "./settings.ts";
import type { TextPlace } from "./text-place.ts";

export type RuleCompileOptions = Omit<RuleOptions, "roots"> & {
  readonly roots: Omit<RuleOptions["roots"], "settingsRoot">;
  readonly examples: ExampleTrial;
  /** Who makes the calls. */
  readonly client: string;
};

export type CompiledRules = {
  readonly rules: readonly Rule[];
  readonly stage: readonly Rule[];
  readonly network: readonly Rule[];
  readonly problems: readonly SettingsProblem[];
};

/** Compiles a layer's rules; a broken rule is a problem and is left out. */
export function compileRules(layer: Layer, { examples, roots, client, ...others }: RuleCompileOptions): CompiledRules {
  const rules: Rule[] = [];
  const stage: Rule[] = [];
  const network: Rule[] = [];
  const lists: Readonly<Partial<Record<RuleKey, Rule[]>>> = { "proposals.stage": stage, "confined.network": network };
  const problems: SettingsProblem[] = [];
  const options: RuleOptions = { ...others, roots: { ...roots, settingsRoot: layer.root } };
  const bench = exampleOptionsFor(layer, options, examples);
  for (const entry of layer.written.rules) {
    if (!mayApply(layer, entry)) continue;
    const compiled = compileRule({ layer, entry, options, bench });
    problems.push(...compiled.problems);
    if (compiled.rule) (lists[entry.list] ?? rules).push(limitToClient(compiled.rule, entry, client));
  }
  return { rules, stage, network, problems };
}

/** A rule about another client's calls is kept for checks and comparisons, but concerns no call here. */
function limitToClient(rule: Rule, { client }: RuleEntry, current: string): Rule {
  if (client === undefined) return rule;
  const limited = { ...rule, record: canonicalJson({ ...JSON.parse(rule.record), client }) };
  return client === current ? limited : { ...limited, concerns: () => false };
}

function exampleOptionsFor({ root }: Layer, { tools, roots: { workspace, home } }: RuleOptions, examples: ExampleTrial): ExampleOptions {
  const settingsRoot = root === workspace ? examples.workspace : root;
  return { tools, roots: { settingsRoot, workspace: examples.workspace, home }, evaluate: examples.evaluate };
}

type RuleCompilation = { readonly layer: Layer; readonly entry: RuleEntry; readonly options: RuleOptions; readonly bench: ExampleOptions };

function compileRule({ layer, entry, options, bench }: RuleCompilation): {
  readonly rule?: Rule;
  readonly problems: readonly SettingsProblem[];
} {
  const written = createWrittenRule(layer, entry);
  const parsed = refuseIdleGlob(parseRule(written, options), entry);
  const rule = isFault(parsed) ? parsed.rule : parsed;
  const fault = isFault(parsed) ? [ruleProblem(layer, entry, { fault: parsed, at: entry.at })] : [];
  if (!rule) return { problems: fault };
  const kept = fault.map((problem): SettingsProblem => {
    if (problem.effect === "refuse") return problem;
    return { ...problem, message: `${problem.message}; the rule is kept and applies once such a tool exists`, kept: true };
  });
  const failed = failedExamples(written, entry, bench).map((found) => ruleProblem(layer, entry, found));
  return failed.length > 0 ? { problems: [...fault, ...failed] } : { rule, problems: kept };
}

/** A flag whose glob matches no tool would forbid nothing. `*.apply` and MCP tools are known only later. */
function refuseIdleGlob(parsed: Rule | RuleFault, { flag, list, rule }: RuleEntry): Rule | RuleFault {
  if (flag === undefined || list === "permissions.allow" || isFault(parsed) || parsed.example) return parsed;
  const [name = ""] = rule.trim().split(/[(:]/);
  return /[*?[]/.test(name) && !/^mcp__|\.apply$/.test(name) ? { ...unknownToolFault(name), rule: parsed } : parsed;
}

function createWrittenRule(layer: Layer, { list, rule, because, bind, flag, at }: RuleEntry): WrittenRule {
  const where = flag === undefined ? { source: layer.label, file: layer.file, ...at } : { source: flag };
  const ref = { text: rule, ...where, ...(because !== undefined && { because }) };
  return { verdict: SETTINGS[list].verdict, at: ref, ...(bind && { bind }) };
}

type ExampleFailure = { readonly fault: RuleFault; readonly at: TextPlace };

/** One by one, so that each failure has its place. */
function failedExamples(written: WrittenRule, entry: RuleEntry, bench: ExampleOptions): readonly ExampleFailure[] {
  return (["match", "notMatch"] as const).flatMap((field) =>
    (entry[field] ?? []).flatMap((example, index) =>
      catchExampleError(() => checkExamples(written, { [field]: [example] }, bench)).map((fault) => ({
        fault,
        at: entry.placeOf(field, index),
      })),
    ),
  );
}

function catchExampleError(check: () => readonly RuleFault[]): readonly RuleFault[] {
  try {
    return check();
  } catch (error) {
    const message = `an example cannot be tested: ${messageOf(error)}`;
    return [{ type: "rule_example", message, hint: "fix or remove the example" }];
  }
}

function ruleProblem(
  layer: Layer,
  { flag, list, key, rule }: RuleEntry,
  { fault: { type, message, hint }, at }: ExampleFailure,
): SettingsProblem {
  const named = flag === undefined ? rule : `'${rule}'`;
  const said = type === "rule_example" || rule.trim() === "" ? message : `${named}: ${message}`;
  const isAllow = SETTINGS[list].verdict === "allow";
  // A flag is written for this run: an unknown name is a typo, and continuing would allow what the flag was meant to forbid.
  const isTypo = flag !== undefined && type === "rule_unknown_tool" && !isAllow;
  return { type, file: flag ?? layer.file, ...at, key, message: said, hint, effect: isTypo ? "refuse" : problemEffect(type, isAllow) };
}
