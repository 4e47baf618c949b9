import { canonicalJson, isObject, type Json, type Verdict } from "@assent/core";
import { readArgumentRule } from "./argument.ts";
import { isFault, NOTATIONS, type RuleFault, syntaxFault } from "./fault.ts";
import { RULE_KINDS, type RuleKind } from "./kinds.ts";
import type { Rule, RuleExample, RuleOptions, RuleTest, RuleTraits, WrittenRule } from "./rule.ts";
import { getRuleTool } from "./tool-groups.ts";
import { readToolPart, specifierKinds, type ToolPart, unknownToolFault } from "./tool-part.ts";
import { createWholeTest } from "./whole.ts";

export const LONGEST_RULE = 4096;

/** Reads a rule in either notation. A fault with a rule is a warning: no tool of that name exists now. */
export function parseRule(written: WrittenRule, options: RuleOptions): Rule | RuleFault {
  const text = written.at.text.trim();
  if (text === "") return syntaxFault("a rule cannot be empty", NOTATIONS, 1);
  if (text.length > LONGEST_RULE) return syntaxFault(`a rule has at most ${LONGEST_RULE} characters`, "Split it into several rules.");
  const read = readText(text, written, options);
  if (!isFault(read)) return createRule(read, written, options);
  const shift = written.at.text.indexOf(text);
  return read.column === undefined ? read : { ...read, column: read.column + shift };
}

/** A parsed rule; `subject` and `args` go into its record. */
type ParsedText = Pick<Rule, "test" | "bare" | RuleTraits> & {
  readonly part: ToolPart;
  readonly subject?: Json;
  readonly args?: Json;
};

const CONDITION = /:[A-Za-z_][A-Za-z0-9_.]*=/;

function readText(text: string, written: WrittenRule, options: RuleOptions): ParsedText | RuleFault {
  const open = text.indexOf("(");
  const condition = text.search(CONDITION);
  if (condition !== -1 && (open === -1 || condition < open)) return readConditions(text, written, options);
  if (open === -1) return readNamedRule({ name: text }, written, options);
  if (text.endsWith(")")) return readNamedRule({ name: text.slice(0, open), specifier: text.slice(open + 1, -1) }, written, options);
  const column = text.includes(")") ? text.lastIndexOf(")") + 2 : text.length;
  return syntaxFault("a rule that has a '(' must end with ')'", "Write Tool(specifier), with nothing after it.", column);
}

/** A name means one tool here; only the shell means its group, so that both notations are the same rule. */
function readConditions(text: string, written: WrittenRule, options: RuleOptions): ParsedText | RuleFault {
  const name = text.slice(0, text.indexOf(":"));
  if (name === "") return syntaxFault("the tool name is missing before the first argument", NOTATIONS, 1);
  const part = readToolPart(name, { verdict: written.verdict, tools: options.tools }, ({ kind }) => kind.name === "shell");
  if (isFault(part)) return part;
  const read = readArgumentRule(text, part, { written, options });
  return isFault(read) ? read : { part, bare: false, ...read };
}

type NamedRule = { readonly name: string; readonly specifier?: string };

function readNamedRule({ name, specifier = "" }: NamedRule, written: WrittenRule, options: RuleOptions): ParsedText | RuleFault {
  const { verdict } = written;
  const part = readToolPart(name, { verdict, tools: options.tools });
  if (isFault(part)) return part;
  const inside = specifier.trim();
  if (inside === "" || inside === "*") return { part, test: createWholeTest(verdict, options), bare: verdict === "deny" };
  const lenient = part.unknown !== undefined;
  const [first, ...more] = lenient ? DECLARABLE_KINDS : specifierKinds(part, options.tools);
  if (first === undefined) return misplacedSpecifier(name);
  const read = readSpecifier(specifier, { written, options, kinds: [first, ...more], lenient });
  if (isFault(read)) return read.column === undefined ? read : { ...read, column: read.column + name.length + 1 };
  const { record: subject, ...tested } = read;
  return { part, bare: false, subject, ...tested };
}

const DECLARABLE_KINDS: readonly RuleKind[] = RULE_KINDS.filter(({ declaredBy }) => declaredBy);

function misplacedSpecifier(name: string): RuleFault {
  const hint = `Write only ${name}, or name one of its arguments: ${name}:argument=glob`;
  return syntaxFault(`'${name}' takes nothing in parentheses: it declares no command, path or URL`, hint, name.length + 1);
}

function createRule({ part, subject, args, ...tested }: ParsedText, written: WrittenRule, options: RuleOptions): Rule | RuleFault {
  const { verdict, at, bind } = written;
  if (bind?.script !== undefined && !(isObject(subject) && "words" in subject)) return NOTHING_TO_BIND;
  const example = exampleFor(part, options);
  let record: string | undefined; // written when a revision is computed, because nothing else needs it
  const rule: Rule = {
    verdict,
    at,
    get record() {
      record ??= canonicalJson({
        verdict,
        tool: part.record,
        ...(subject !== undefined && { subject }),
        ...(args !== undefined && { args }),
        ...(bind?.script !== undefined && { script: bind.script }),
      });
      return record;
    },
    concerns: part.concerns,
    ...tested,
    ...(example && { example }),
  };
  if (part.unknown === undefined) return rule;
  return { ...unknownToolFault(part.unknown), ...(verdict !== "allow" && { rule }) };
}

const NOTHING_TO_BIND: RuleFault = syntaxFault(
  "only a rule that names a command can be bound to a script",
  "Remove bind, or name the command: Shell(npm test)",
);

function exampleFor({ known, group, record }: ToolPart, { tools }: RuleOptions): RuleExample | undefined {
  const tool = record === "*" ? "shell" : (group?.tools.find((name) => known.includes(name)) ?? known[0] ?? group?.tools[0]);
  if (tool === undefined) return undefined;
  const shape = getRuleTool(tools, tool);
  const argument = shape?.commandArg ?? shape?.pathArgs?.[0] ?? shape?.urlArg ?? group?.kind.usualArgument;
  return argument === undefined ? { tool } : { tool, argument };
}

/** `lenient`: the tool is missing, so kinds that cannot be read are skipped. */
type SpecifierContext = {
  readonly written: WrittenRule;
  readonly options: RuleOptions;
  readonly kinds: readonly [RuleKind, ...RuleKind[]];
  readonly lenient: boolean;
};

/** Reads the parentheses once per possible kind; the unit decides which applies. */
function readSpecifier(specifier: string, { written, options, kinds, lenient }: SpecifierContext): RuleTest | RuleFault {
  const tests = new Map<RuleKind, RuleTest>();
  let fault: RuleFault | undefined;
  for (const kind of kinds) {
    const read = kind.read(specifier, written, options);
    if (!isFault(read)) tests.set(kind, read);
    else if (lenient) fault ??= read;
    else return read;
  }
  const [first, ...more] = tests.values();
  if (!first) return fault ?? NO_SPECIFIER;
  if (more.length === 0) return first;
  return { record: [first, ...more].map(({ record }) => record), test: testByUnit(tests, written.verdict) };
}

const NO_SPECIFIER: RuleFault = syntaxFault("this tool takes nothing in parentheses", "Write only the tool's name.");

function testByUnit(tests: ReadonlyMap<RuleKind, RuleTest>, verdict: Verdict): RuleTest["test"] {
  return (request, unit) => {
    const kind = RULE_KINDS.find(({ isAbout }) => isAbout?.(unit));
    const found = kind && tests.get(kind);
    return found ? found.test(request, unit) : verdict === "allow" ? "no" : "doubt";
  };
}
