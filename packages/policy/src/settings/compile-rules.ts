import { messageOf } from "@assent/core";
import { checkExamples, type ExampleBench, type ExampleTrial } from "../rules/examples.ts";
import { isFault, type RuleFault } from "../rules/fault.ts";
import { parseRule } from "../rules/parse.ts";
import type { Rule, RuleOptions, WrittenRule } from "../rules/rule.ts";
import { type Layer, mayHold } from "./layers.ts";
import { effectOf, type Problem } from "./problem.ts";
import type { RuleEntry } from "./read-settings.ts";
import { SETTINGS } from "./settings.ts";
import type { Place } from "./text-place.ts";

/** What compiling needs besides the layer. */
export type CompileParts = Omit<RuleOptions, "roots"> & {
  readonly roots: Omit<RuleOptions["roots"], "settingsRoot">;
  readonly examples: ExampleTrial;
};

/** A layer's rules that hold. */
export type CompiledRules = {
  /** Denies, asks and allows in the order of the file. */
  readonly rules: readonly Rule[];
  /** Requests that are staged instead of run. */
  readonly stage: readonly Rule[];
  readonly problems: readonly Problem[];
};

/** Compiles the rules of a layer that may hold there; a broken one is a problem, and whoever goes on is without it. */
export function compileRules(layer: Layer, { examples, roots, ...others }: CompileParts): CompiledRules {
  const rules: Rule[] = [];
  const stage: Rule[] = [];
  const problems: Problem[] = [];
  const options: RuleOptions = { ...others, roots: { ...roots, settingsRoot: layer.root } };
  const bench = benchOf(layer, options, examples);
  for (const entry of layer.written.rules) {
    if (!mayHold(layer, entry)) continue;
    const compiled = compileRule({ layer, entry, options, bench });
    problems.push(...compiled.problems);
    if (compiled.rule) (entry.list === "proposals.stage" ? stage : rules).push(compiled.rule);
  }
  return { rules, stage, problems };
}

/** A project's root is the workspace, so in the empty one it is that. */
function benchOf({ root }: Layer, { tools, roots: { workspace, home } }: RuleOptions, examples: ExampleTrial): ExampleBench {
  const settingsRoot = root === workspace ? examples.workspace : root;
  return { tools, roots: { settingsRoot, workspace: examples.workspace, home }, evaluate: examples.evaluate };
}

type Compiling = { readonly layer: Layer; readonly entry: RuleEntry; readonly options: RuleOptions; readonly bench: ExampleBench };

function compileRule({ layer, entry, options, bench }: Compiling): { readonly rule?: Rule; readonly problems: readonly Problem[] } {
  const written = toWritten(layer, entry);
  const parsed = parseRule(written, options);
  const rule = isFault(parsed) ? parsed.rule : parsed;
  const fault = isFault(parsed) ? [ruleProblem(layer, entry, { fault: parsed, at: entry.at })] : [];
  if (!rule) return { problems: fault };
  const kept = fault.map((problem): Problem => {
    if (problem.effect === "refuse") return problem;
    return { ...problem, message: `${problem.message}; the rule is kept, and holds as soon as there is one`, kept: true };
  });
  const failed = failedExamples(written, entry, bench).map((found) => ruleProblem(layer, entry, found));
  return failed.length > 0 ? { problems: [...fault, ...failed] } : { rule, problems: kept };
}

function toWritten(layer: Layer, { list, rule, because, bind, flag, at }: RuleEntry): WrittenRule {
  const where = flag === undefined ? { source: layer.label, file: layer.file, ...at } : { source: flag };
  const ref = { text: rule, ...where, ...(because !== undefined && { because }) };
  return { verdict: SETTINGS[list].verdict, at: ref, ...(bind && { bind }) };
}

type Found = { readonly fault: RuleFault; readonly at: Place };

/** One by one, so that each failure is told where its example stands. */
function failedExamples(written: WrittenRule, entry: RuleEntry, bench: ExampleBench): readonly Found[] {
  return (["match", "notMatch"] as const).flatMap((field) =>
    (entry[field] ?? []).flatMap((example, index) =>
      tryExample(() => checkExamples(written, { [field]: [example] }, bench)).map((fault) => ({ fault, at: entry.placeOf(field, index) })),
    ),
  );
}

/** An example that cannot even be looked at proves nothing. */
function tryExample(check: () => readonly RuleFault[]): readonly RuleFault[] {
  try {
    return check();
  } catch (error) {
    const message = `an example cannot be tried: ${messageOf(error)}`;
    return [{ type: "rule_example", message, hint: "correct the example, or remove it" }];
  }
}

function ruleProblem(layer: Layer, { flag, list, key, rule }: RuleEntry, { fault: { type, message, hint }, at }: Found): Problem {
  const said = type === "rule_example" || rule.trim() === "" ? message : `${rule}: ${message}`;
  const isAllow = list === "permissions.allow";
  // A flag is written for this run: an unknown name is a typo, and continuing would allow what the flag was meant to forbid.
  const isTypo = flag !== undefined && type === "rule_unknown_tool" && !isAllow;
  return { type, file: flag ?? layer.file, ...at, key, message: said, hint, effect: isTypo ? "refuse" : effectOf(type, isAllow) };
}
