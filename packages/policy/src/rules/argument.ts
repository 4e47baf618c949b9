import { type Condition, type Json, matchesPattern, type Pattern, parsePattern, type Request, type Verdict } from "@assent/core";
import type { Broad } from "../shell/walk/seen-command.ts";
import { ANY_TOOL, type ReadCondition, type Reading, readCommand } from "./command-condition.ts";
import { catchPattern, isFault, type RuleFault, syntaxFault } from "./fault.ts";
import { readPathGlob } from "./path-condition.ts";
import type { Rule, RuleTool } from "./rule.ts";
import { shapeOf } from "./tool-groups.ts";
import type { ToolPart } from "./tool-part.ts";
import { readUrlGlob } from "./url-condition.ts";
import { wholeTest } from "./whole.ts";

/** The conditions of `tool:argument=glob`, read for one tool; `subject` is a command's words, as `Shell(words)` has them. */
export type Conditions = Pick<Rule, "test" | "plainWords"> & { readonly subject?: Json; readonly args?: Json };

/** Reads the conditions of a rule. What an argument means is its tool's to declare, so a rule about several tools is read once for each. */
export function readArgumentRule(text: string, part: ToolPart, reading: Reading): Conditions | RuleFault {
  const pattern = catchPattern(() => parsePattern(text));
  if (isFault(pattern)) return pattern;
  const { tools } = reading.options;
  const readTool = (tool: string): Conditions | RuleFault => {
    const shape = shapeOf(tools, tool);
    return readFor(part.group ? asCommand(pattern, shapeOf(tools, part.group.tools[0]), shape) : pattern.conditions, shape, reading);
  };
  const names = part.group ? [part.group.tools[0], ...part.known] : part.known;
  const unknown = unknownArgument(
    pattern,
    names.flatMap((name) => shapeOf(tools, name) ?? []),
  );
  if (unknown) return unknown;
  const read = names.map(readTool);
  const fault = read.find((one) => isFault(one));
  if (fault) return fault;
  const record = part.group || !/[*?[\\]/.test(part.record) ? read[0] : undefined;
  const shown = record ?? readFor(pattern.conditions, undefined, reading);
  return isFault(shown) ? shown : { ...shown, test: testByTool(readTool, reading.written.verdict) };
}

/** An argument that none of the tools takes: such a rule would never hold, and look as if it did. */
function unknownArgument({ conditions }: Pattern, shapes: readonly RuleTool[]): RuleFault | undefined {
  const args = shapes.flatMap((shape) => shape.args ?? []);
  if (shapes.length === 0 || shapes.some((shape) => shape.args === undefined)) return undefined;
  const missing = conditions.find(({ path: [root] }) => !args.includes(root));
  return missing && syntaxFault(`there is no argument '${missing.path[0]}'`, `it takes ${[...new Set(args)].join(", ")}`);
}

/** Where a rule about the shell's command means another tool with a command, it means that tool's argument. */
function asCommand({ conditions }: Pattern, shell: RuleTool | undefined, shape: RuleTool | undefined): readonly Condition[] {
  const own = shape?.commandArg;
  if (own === undefined) return conditions;
  return conditions.map((condition) => (roleOf(condition, shell) === "command" ? { ...condition, path: [own] } : condition));
}

/** Each tool's reading is kept; a tool that came later and for which an allow cannot be read is not allowed. */
function testByTool(readTool: (tool: string) => Conditions | RuleFault, verdict: Verdict): Rule["test"] {
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

type Test = Rule["test"];

function readFor(conditions: readonly Condition[], shape: RuleTool | undefined, reading: Reading): Conditions | RuleFault {
  const read: ReadCondition[] = [];
  for (const condition of conditions) {
    const one = READERS[roleOf(condition, shape)](condition, shape ?? NO_SHAPE, reading);
    if (isFault(one)) return one;
    read.push(one);
  }
  const subject = read.find((one) => one.subject)?.subject;
  const args = conditions.filter((_, i) => read[i]?.subject === undefined).map((condition) => argumentOf(condition, shape));
  return {
    test: allOf([...read.map(({ test }) => test), ...wholeIfUnread(conditions, shape, reading)]),
    ...(read.length === 1 && read[0]?.plainWords && { plainWords: read[0].plainWords }),
    ...(subject && { subject }),
    ...(args.length > 0 && { args: args.sort(byName) }),
  };
}

/** Where an allow names neither the command nor the URL, nothing about these may be odd. */
function wholeIfUnread(conditions: readonly Condition[], shape: RuleTool | undefined, { written, options }: Reading): readonly Test[] {
  if (written.verdict !== "allow" || conditions.some((condition) => ["command", "url"].includes(roleOf(condition, shape)))) return [];
  return [wholeTest(written.verdict, options)];
}

function argumentOf(
  { path: [root, ...inner], glob }: Condition,
  shape: RuleTool | undefined,
): { readonly name: string; readonly glob: string } {
  return { name: [propertyOf(root, shape), ...inner].join("."), glob: glob.text };
}

const NO_SHAPE: RuleTool = { kind: "other" };

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

/** All must hold; one that is in doubt leaves the whole in doubt. */
function allOf(tests: readonly Test[]): Test {
  const [only] = tests;
  if (only && tests.length === 1) return only;
  return (request, unit) => {
    let whole: Broad = "yes";
    for (const test of tests) {
      const answer = test(request, unit);
      if (answer === "no") return "no";
      if (answer === "doubt") whole = "doubt";
    }
    return whole;
  };
}

type Role = "command" | "path" | "url" | "plain";

function roleOf({ path: [root, ...inner] }: Condition, shape: RuleTool | undefined): Role {
  if (!shape || inner.length > 0) return "plain";
  const name = propertyOf(root, shape);
  if (name === shape.commandArg) return "command";
  if (name === shape.urlArg) return "url";
  return shape.pathArgs?.includes(name) ? "path" : "plain";
}

function propertyOf(name: string, shape: RuleTool | undefined): string {
  const { aliases } = shape ?? NO_SHAPE;
  return (aliases && Object.hasOwn(aliases, name) && aliases[name]) || name;
}

type Reader = (condition: Condition, shape: RuleTool, reading: Reading) => ReadCondition | RuleFault;

const READERS: Readonly<Record<Role, Reader>> = { command: readCommand, path: readPath, url: readUrl, plain: readPlain };

/** The text of an argument, as the pattern notation compares it. */
function readPlain(condition: Condition, { aliases }: RuleTool, { written: { verdict } }: Reading): ReadCondition {
  const pattern = { text: "", tool: ANY_TOOL, conditions: [condition] };
  const subject = { tool: "", ...(aliases && { aliases }) }; // the tool was matched before
  return { test: ({ input }) => (matchesPattern(pattern, verdict, { ...subject, input }) ? "yes" : "no") };
}

function readPath(condition: Condition, shape: RuleTool, reading: Reading): ReadCondition {
  const { verdict } = reading.written;
  const text = readPlain(condition, shape, reading).test;
  const { workspace } = reading.options.roots;
  const spelled = readPathGlob({ glob: condition.glob, workspace, valuesOf: (request) => valuesOf(request, condition, shape) }, verdict);
  if (verdict === "allow") return { test: allOf([text, spelled]) };
  return { test: (request, unit) => (text(request, unit) === "yes" ? "yes" : spelled(request, unit)) };
}

function valuesOf({ input }: Request, { path: [root] }: Condition, shape: RuleTool): readonly unknown[] {
  const name = propertyOf(root, shape);
  const value = Object.hasOwn(input, name) ? input[name] : undefined;
  return value === undefined ? [] : [value].flat();
}

function readUrl(condition: Condition, shape: RuleTool, reading: Reading): ReadCondition | RuleFault {
  const { verdict } = reading.written;
  const text = readPlain(condition, shape, reading).test;
  const spelled = readUrlGlob(condition.glob, verdict);
  if (isFault(spelled)) return spelled;
  if (verdict === "allow") return { test: allOf([text, spelled]) };
  return { test: (request, unit) => (text(request, unit) === "yes" ? "yes" : spelled(request, unit)) };
}
