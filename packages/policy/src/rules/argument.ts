import { type Condition, type Json, matchesPattern, type Pattern, parsePattern, type Request, type Verdict } from "@assent/core";
import type { MatchAnswer } from "../shell/walk/seen-command.ts";
import { ANY_TOOL, type CompiledCondition, type ConditionContext, readCommandCondition } from "./command-condition.ts";
import { catchPatternError, isFault, type RuleFault, syntaxFault } from "./fault.ts";
import { readPathCondition } from "./path-condition.ts";
import { isGlob } from "./path-glob.ts";
import type { Rule, RuleTool, RuleTraits } from "./rule.ts";
import { getRuleTool } from "./tool-groups.ts";
import type { ToolPart } from "./tool-part.ts";
import { readUrlCondition } from "./url-condition.ts";
import { createWholeTest } from "./whole.ts";

/** The conditions of `tool:argument=glob` for one tool; `subject` is a command's words. */
export type ArgumentConditions = Pick<Rule, "test" | RuleTraits> & { readonly subject?: Json; readonly args?: Json };

/** Reads the conditions of a rule, once per tool, because each tool declares what its arguments mean. */
export function readArgumentRule(text: string, part: ToolPart, reading: ConditionContext): ArgumentConditions | RuleFault {
  const pattern = catchPatternError(() => parsePattern(text));
  if (isFault(pattern)) return pattern;
  const { tools } = reading.options;
  const readTool = (tool: string): ArgumentConditions | RuleFault => {
    const shape = getRuleTool(tools, tool);
    return readConditionsFor(
      part.group ? renameCommandArgument(pattern, getRuleTool(tools, part.group.tools[0]), shape) : pattern.conditions,
      shape,
      reading,
    );
  };
  const names = part.group ? [part.group.tools[0], ...part.known] : part.known;
  const unknown = findUnknownArgument(
    pattern,
    names.flatMap((name) => getRuleTool(tools, name) ?? []),
  );
  if (unknown) return unknown;
  const read = names.map(readTool);
  const fault = read.find((one) => isFault(one));
  if (fault) return fault;
  const record = part.group || !isGlob(part.record) ? read[0] : undefined;
  const shown = record ?? readConditionsFor(pattern.conditions, undefined, reading);
  return isFault(shown) ? shown : { ...shown, test: testByTool(readTool, reading.written.verdict) };
}

/** Reports an argument that no tool takes; such a rule could never apply. */
function findUnknownArgument({ conditions }: Pattern, shapes: readonly RuleTool[]): RuleFault | undefined {
  const args = shapes.flatMap((shape) => shape.args ?? []);
  if (shapes.length === 0 || shapes.some((shape) => shape.args === undefined)) return undefined;
  const missing = conditions.find(({ path: [root] }) => !args.includes(root));
  return missing && syntaxFault(`the tool has no argument '${missing.path[0]}'`, `It takes ${[...new Set(args)].join(", ")}.`);
}

/** A rule about the shell's command also means the command argument of other tools. */
function renameCommandArgument({ conditions }: Pattern, shell: RuleTool | undefined, shape: RuleTool | undefined): readonly Condition[] {
  const own = shape?.commandArg;
  if (own === undefined) return conditions;
  return conditions.map((condition) => (roleOf(condition, shell) === "command" ? { ...condition, path: [own] } : condition));
}

/** An allow that cannot be read for a later tool does not allow it. */
function testByTool(readTool: (tool: string) => ArgumentConditions | RuleFault, verdict: Verdict): Rule["test"] {
  const known = new Map<string, Rule["test"]>();
  return (request, unit) => {
    let test = known.get(request.tool);
    if (!test) {
      const read = readTool(request.tool);
      test = isFault(read) ? () => (verdict === "allow" ? "no" : "doubt") : read.test;
      known.set(request.tool, test);
    }
    return test(request, unit);
  };
}

type UnitTest = Rule["test"];

function readConditionsFor(
  conditions: readonly Condition[],
  shape: RuleTool | undefined,
  reading: ConditionContext,
): ArgumentConditions | RuleFault {
  const read: CompiledCondition[] = [];
  for (const condition of conditions) {
    const one = READERS[roleOf(condition, shape)](condition, shape ?? NO_SHAPE, reading);
    if (isFault(one)) return one;
    read.push(one);
  }
  const subject = read.find((one) => one.subject)?.subject;
  const contradiction = findContradiction(conditions, shape);
  const { test: _test, subject: _subject, ...traits } = read[0] ?? { test: undefined, subject: undefined };
  const args = conditions.filter((_, i) => read[i]?.subject === undefined).map((condition) => recordArgument(condition, shape));
  return {
    test: allOf([...read.map(({ test }) => test), ...wholeTestIfNeeded(conditions, shape, reading)]),
    ...(read.length === 1 ? traits : {}),
    ...(contradiction !== undefined && { contradiction }),
    ...(subject && { subject }),
    ...(args.length > 0 && { args: args.sort((a, b) => (a.name < b.name ? -1 : 1)) }),
  };
}

/** Two conditions on one argument of which one is literal text that the other does not match. */
function findContradiction(conditions: readonly Condition[], shape: RuleTool | undefined): string | undefined {
  const nameOf = ({ path: [root, ...inner] }: Condition): string => [resolveAlias(root, shape), ...inner].join(".");
  for (const one of conditions) {
    const literal = isGlob(one.glob.text) ? undefined : one.glob.text;
    const other = conditions.find(
      (next) => next !== one && nameOf(next) === nameOf(one) && literal !== undefined && !next.glob.matches(literal),
    );
    if (other) return `'${nameOf(one)}' cannot be both ${one.glob.text} and ${other.glob.text}`;
  }
  return undefined;
}

/** An allow without a condition on the command or URL still requires that nothing about them is unusual. */
function wholeTestIfNeeded(
  conditions: readonly Condition[],
  shape: RuleTool | undefined,
  { written, options }: ConditionContext,
): readonly UnitTest[] {
  if (written.verdict !== "allow" || conditions.some((condition) => ["command", "url"].includes(roleOf(condition, shape)))) return [];
  return [createWholeTest(written.verdict, options)];
}

function recordArgument(
  { path: [root, ...inner], glob }: Condition,
  shape: RuleTool | undefined,
): { readonly name: string; readonly glob: string } {
  return { name: [resolveAlias(root, shape), ...inner].join("."), glob: glob.text };
}

const NO_SHAPE: RuleTool = { kind: "other" };

/** Answers yes if all tests do, and no if one does; otherwise it is in doubt. */
function allOf(tests: readonly UnitTest[]): UnitTest {
  const [only] = tests;
  if (only && tests.length === 1) return only;
  return (request, unit) => {
    let whole: MatchAnswer = "yes";
    for (const test of tests) {
      const answer = test(request, unit);
      if (answer === "no") return "no";
      if (answer === "doubt") whole = "doubt";
    }
    return whole;
  };
}

type ArgumentRole = "command" | "path" | "url" | "plain";

function roleOf({ path: [root, ...inner] }: Condition, shape: RuleTool | undefined): ArgumentRole {
  if (!shape || inner.length > 0) return "plain";
  const name = resolveAlias(root, shape);
  if (name === shape.commandArg) return "command";
  if (name === shape.urlArg) return "url";
  return shape.pathArgs?.includes(name) ? "path" : "plain";
}

function resolveAlias(name: string, shape: RuleTool | undefined): string {
  const { aliases } = shape ?? NO_SHAPE;
  return (aliases && Object.hasOwn(aliases, name) && aliases[name]) || name;
}

type ConditionReader = (condition: Condition, shape: RuleTool, reading: ConditionContext) => CompiledCondition | RuleFault;

const READERS: Readonly<Record<ArgumentRole, ConditionReader>> = {
  command: readCommandCondition,
  path: readPath,
  url: readUrl,
  plain: readPlain,
};

function readPlain(condition: Condition, { aliases }: RuleTool, { written: { verdict } }: ConditionContext): CompiledCondition {
  const pattern = { text: "", tool: ANY_TOOL, conditions: [condition] };
  const subject = { tool: "", ...(aliases && { aliases }) }; // the tool was matched before
  return { test: ({ input }) => (matchesPattern(pattern, verdict, { ...subject, input }) ? "yes" : "no") };
}

function readPath(condition: Condition, shape: RuleTool, reading: ConditionContext): CompiledCondition {
  const valuesOf = (request: Request): readonly unknown[] => argumentValues(request, condition, shape);
  const { workspace } = reading.options.roots;
  const spelled = readPathCondition(
    { glob: condition.glob, name: resolveAlias(condition.path[0], shape), workspace, valuesOf },
    reading.written.verdict,
  );
  return withText(spelled, condition, shape, reading);
}

/** An allow needs the text and what it means to match; for a deny or ask, one of them is enough. */
function withText(meaning: UnitTest, condition: Condition, shape: RuleTool, reading: ConditionContext): CompiledCondition {
  const text = readPlain(condition, shape, reading).test;
  if (reading.written.verdict === "allow") return { test: allOf([text, meaning]) };
  return { test: (request, unit) => (text(request, unit) === "yes" ? "yes" : meaning(request, unit)) };
}

function argumentValues({ input }: Request, { path: [root] }: Condition, shape: RuleTool): readonly unknown[] {
  const name = resolveAlias(root, shape);
  const value = Object.hasOwn(input, name) ? input[name] : undefined;
  return value === undefined ? [] : [value].flat();
}

function readUrl(condition: Condition, shape: RuleTool, reading: ConditionContext): CompiledCondition | RuleFault {
  const spelled = readUrlCondition(condition.glob, reading.written.verdict);
  return isFault(spelled) ? spelled : withText(spelled, condition, shape, reading);
}
