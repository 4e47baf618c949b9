import { compileGlob, type Json, type Request, type Unit, type Verdict } from "@assent/core";
import type { Broad } from "../shell/seen-command.ts";
import { hostOf, pathOf, shellOf } from "../unit-data.ts";
import { readDomainRule } from "./domain-rule.ts";
import { readPathRule } from "./path-rule.ts";
import type { RuleOptions, RuleTest, WrittenRule } from "./rule.ts";
import { catchPattern, isFault, type RuleFault } from "./rule-fault.ts";
import { readShellRule } from "./shell-rule.ts";
import type { SpecifierKind } from "./tool-groups.ts";

/** What a specifier is read with. `lenient`: the tool is not there, so nobody knows which of the kinds is meant; what cannot be read as one of them is left out. */
export type SpecifierContext = {
  readonly written: WrittenRule;
  readonly options: RuleOptions;
  readonly kinds: readonly [SpecifierKind, ...SpecifierKind[]];
  readonly lenient: boolean;
};

/** Reads what stands in parentheses, once for each kind of thing it may be about; which one counts is told by what a unit is about. */
export function readSpecifier(specifier: string, { written, options, kinds, lenient }: SpecifierContext): RuleTest | RuleFault {
  const tests = new Map<SpecifierKind, RuleTest>();
  let fault: RuleFault | undefined;
  for (const kind of kinds) {
    const read = READERS[kind](specifier, written, options);
    if (!isFault(read)) tests.set(kind, read);
    else if (lenient) fault ??= read;
    else return read;
  }
  const [first, ...more] = tests.values();
  if (!first) return fault ?? READ_AS_NOTHING;
  if (more.length === 0) return first;
  return { record: [first, ...more].map(({ record }) => record), test: testByUnit(tests, written.verdict) };
}

const READ_AS_NOTHING: RuleFault = {
  type: "rule_syntax",
  message: "nothing can stand in parentheses here",
  hint: "write the tool's name alone",
};

type Reader = (specifier: string, written: WrittenRule, options: RuleOptions) => RuleTest | RuleFault;

const READERS: Readonly<Record<SpecifierKind, Reader>> = {
  shell: readShellRule,
  path: (specifier, { verdict }, { roots }) => readPathRule(specifier, verdict, roots),
  domain: (specifier, { verdict }) => readDomainRule(specifier, verdict),
  agent: readAgentRule,
};

function testByUnit(tests: ReadonlyMap<SpecifierKind, RuleTest>, verdict: Verdict): RuleTest["test"] {
  return (request, unit) => {
    const kind = kindOf(unit);
    const found = kind && tests.get(kind);
    return found ? found.test(request, unit) : verdict === "allow" ? "no" : "doubt";
  };
}

function kindOf(unit: Unit): SpecifierKind | undefined {
  if (shellOf(unit)) return "shell";
  if (pathOf(unit)) return "path";
  return hostOf(unit) ? "domain" : undefined;
}

/** A subagent by its name; one without a name is a fork. */
function readAgentRule(specifier: string): RuleTest | RuleFault {
  const glob = catchPattern(() => compileGlob(specifier.trim()), specifier);
  if (isFault(glob)) return glob;
  return { record: { agent: glob.text.toLowerCase() } satisfies Json, test: (request) => isAgent(glob.matches, request) };
}

function isAgent(matches: (name: string) => boolean, { input: { agent } }: Request): Broad {
  if (agent === undefined || agent === null) return matches("fork") ? "yes" : "no";
  return typeof agent === "string" && matches(agent) ? "yes" : "no";
}
