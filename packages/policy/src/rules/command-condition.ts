import { type Condition, compileGlob, type Glob, type Json, matchesPattern, type Request, type Unit } from "@assent/core";
import { getShellUnit } from "../facts/units.ts";
import type { MatchAnswer } from "../shell/walk/seen-command.ts";
import { isFault, type RuleFault, syntaxFault } from "./fault.ts";
import { isGlob } from "./path-glob.ts";
import type { Rule, RuleOptions, RuleTool, RuleTraits, WrittenRule } from "./rule.ts";
import { readShellRule } from "./shell.ts";
import { createWholeTest } from "./whole.ts";

export type ConditionContext = { readonly written: WrittenRule; readonly options: RuleOptions };

/** A compiled condition. `subject` describes a command's words; null for any command. */
export type CompiledCondition = Pick<Rule, "test" | RuleTraits> & { readonly subject?: Json };

export const ANY_TOOL: Glob = compileGlob("*");

/** Literal words, with an optional final star, are a command's words. Any other glob is about the text and can only deny or ask. */
export function readCommandCondition(
  condition: Condition,
  shape: RuleTool,
  { written, options }: ConditionContext,
): CompiledCondition | RuleFault {
  const { plain } = condition.glob;
  if (plain?.star && plain.text.trim() === "") return { test: createWholeTest(written.verdict, options), subject: null };
  const isLiteral = plain && !isGlob(plain.text);
  const words = isLiteral ? readShellRule(plain.star ? `${plain.text} *` : plain.text, written, options) : TEXT_ONLY;
  if (!isFault(words)) {
    const { record: subject, ...tested } = words;
    return { subject, ...tested };
  }
  if (written.verdict !== "allow") return { test: createTextTest(condition, shape) };
  return words.type === "rule_syntax" ? TEXT_ONLY : words;
}

const TEXT_ONLY: RuleFault = syntaxFault(
  "an allow rule for a command must be literal words, with a star only at the end",
  "Write Shell(git log), or command=git log*",
);

/** A glob open at both ends need not be tried on parts of the text. */
const OPEN_ENDED = /^\*(?:[^\\]|\\.)*\*$/su;

/** Tests the whole text, its parts, and each simple command. The text is tested once per line. */
function createTextTest(condition: Condition, { aliases, commandArg }: RuleTool): Rule["test"] {
  const pattern = { text: "", tool: ANY_TOOL, conditions: [condition] };
  const about = { ...(aliases && { aliases }), ...(commandArg !== undefined && { commandArg }) };
  const known = new WeakMap<object, boolean>();
  const inParts = ({ tool, input }: Request): boolean => matchesPattern(pattern, "deny", { tool, input, ...about });
  const isOpen = OPEN_ENDED.test(condition.glob.text);
  return (request, unit) => {
    const line = getShellUnit(unit)?.line;
    if (!line) return inParts(request) ? "yes" : "doubt";
    const found = known.get(line) ?? (isOpen ? condition.glob.matches(line.text) : inParts(request));
    known.set(line, found);
    return found ? "yes" : matchesCommand(condition.glob, unit);
  };
}

function matchesCommand({ matches }: Glob, unit: Unit): MatchAnswer {
  const { line, seen } = getShellUnit(unit) ?? {};
  if (!line || !seen) return "no";
  const written = seen.at ? line.text.slice(...seen.at) : "";
  return matches(written) || matches(seen.argv.map(({ text }) => text).join(" ")) ? "yes" : "no";
}
