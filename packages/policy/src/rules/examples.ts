import { isObject, type JsonObject, type Kind, type Location, type Request } from "@assent/core";
import { createPolicyFacts } from "../facts/facts.ts";
import { getShellUnit } from "../facts/units.ts";
import { createPathLookup } from "../paths/lookup.ts";
import { ruleHolds } from "./checker.ts";
import { isFault, type RuleFault } from "./fault.ts";
import { parseRule } from "./parse.ts";
import type { Rule, RuleOptions, RuleTools, WrittenRule } from "./rule.ts";

/** Examples of a rule: a string for the tool's argument, or a whole input. */
export type RuleExamples = { readonly match?: readonly ExampleInput[]; readonly notMatch?: readonly ExampleInput[] };

export type ExampleInput = string | JsonObject;

export type ExampleOptions = Pick<RuleOptions, "tools" | "roots"> & {
  readonly evaluate: (tool: string, input: JsonObject) => Request;
};

/** Tests a rule on its examples; each that does not behave as stated is a fault. Script bindings are ignored. */
export function checkExamples(
  written: WrittenRule,
  { match = [], notMatch = [] }: RuleExamples,
  bench: ExampleOptions,
): readonly RuleFault[] {
  const read = parseRule({ verdict: written.verdict, at: written.at }, bench);
  const rule = isFault(read) ? read.rule : read;
  if (!rule || match.length + notMatch.length === 0) return [];
  return [
    ...match.map((example) => tryExample(rule, example, { bench, wanted: true })),
    ...notMatch.map((example) => tryExample(rule, example, { bench, wanted: false })),
  ].flat();
}

type ExampleExpectation = { readonly bench: ExampleOptions; readonly wanted: boolean };

function tryExample(rule: Rule, example: ExampleInput, { bench, wanted }: ExampleExpectation): readonly RuleFault[] {
  const shown = typeof example === "string" ? `'${example}'` : JSON.stringify(example);
  const call = exampleCall(rule, example);
  if (!call)
    return [
      exampleFault(
        `the example ${shown} cannot be tested: it is not clear which tool argument it stands for`,
        "Write the whole tool input as an object.",
      ),
    ];
  const request = bench.evaluate(call.tool, call.input);
  const matched = ruleMatches(rule, request);
  if (matched === wanted) return [];
  const said = matched ? "is matched by" : "is not matched by";
  return [exampleFault(`the example ${shown} ${said} ${rule.at.text}${explainHazard(rule, request)}`, wanted ? WIDER : NARROWER)];
}

const WIDER = "Fix the example, or change the rule so that it matches.";
const NARROWER = "Fix the example, or change the rule so that it does not match.";

function exampleFault(message: string, hint: string): RuleFault {
  return { type: "rule_example", message, hint };
}

function exampleCall({ example: about }: Rule, example: ExampleInput): { readonly tool: string; readonly input: JsonObject } | undefined {
  if (!about) return undefined;
  if (isObject(example)) return { tool: about.tool, input: example };
  return about.argument === undefined ? undefined : { tool: about.tool, input: { [about.argument]: example } };
}

/** An allow must apply to every unit, a deny or ask to one. */
function ruleMatches(rule: Rule, request: Request): boolean {
  if (!rule.concerns(request.tool, request.kind)) return false;
  const spoken = request.units.map((unit) => ruleHolds(rule, rule.test(request, unit)));
  return rule.verdict === "allow" ? spoken.every(Boolean) : spoken.some(Boolean);
}

function explainHazard({ verdict, whyNot }: Rule, { units }: Request): string {
  if (verdict !== "allow") return "";
  const [limit] = units.flatMap((unit) => whyNot?.(unit) ?? []);
  if (limit) return ` (${limit.why})`;
  const shells = units.map((unit) => getShellUnit(unit));
  const hazard = shells.flatMap((shell) => [...(shell?.line.plan.hazards ?? []), ...(shell?.command?.hazards ?? [])])[0];
  return hazard ? ` (${hazard.text})` : "";
}

/** Never created. */
const EMPTY_WORKSPACE = "/nonexistent/workspace";

const ASSUMED_KINDS: Readonly<Record<string, Kind>> = { shell: "execute", read: "read", edit: "edit", write: "edit", fetch: "fetch" };

export type ExampleTrial = { readonly workspace: string; readonly evaluate: ExampleOptions["evaluate"] };

/** Creates requests for examples in an empty workspace. Nothing runs. */
export function createExampleTrial(tools: RuleTools, kindOf: (tool: string) => Kind | undefined): ExampleTrial {
  return {
    workspace: EMPTY_WORKSPACE,
    evaluate: (tool, input) => {
      const facts = createPolicyFacts({ workspace: EMPTY_WORKSPACE, look: createPathLookup({ workspace: EMPTY_WORKSPACE }) });
      const kind = kindOf(tool) ?? ASSUMED_KINDS[tool] ?? "other";
      const found = facts({ tool, kind, input, cwd: EMPTY_WORKSPACE, locations: exampleLocations(tools, tool, input) });
      if (found instanceof Promise) throw new Error("Facts of examples must be available at once");
      const { units, binds } = found;
      return { tool, toolDigest: "", kind, input, cwd: EMPTY_WORKSPACE, binds, units } satisfies Request;
    },
  };
}

function exampleLocations(tools: RuleTools, tool: string, input: JsonObject): readonly Location[] | undefined {
  const paths = tools.get(tool)?.pathArgs?.flatMap((name) => input[name] ?? []);
  return paths?.filter((path) => typeof path === "string").map((path) => ({ path }));
}
