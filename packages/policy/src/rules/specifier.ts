import type { Verdict } from "@assent/core";
import { isFault, type RuleFault } from "./fault.ts";
import { RULE_KINDS, type RuleKind } from "./kinds.ts";
import type { RuleOptions, RuleTest, WrittenRule } from "./rule.ts";

/** What a specifier is read with. `lenient`: the tool is not there, so nobody knows which of the kinds is meant; what cannot be read as one of them is left out. */
export type SpecifierContext = {
  readonly written: WrittenRule;
  readonly options: RuleOptions;
  readonly kinds: readonly [RuleKind, ...RuleKind[]];
  readonly lenient: boolean;
};

/** Reads what stands in parentheses, once for each kind of thing it may be about; which one counts is told by what a unit is about. */
export function readSpecifier(specifier: string, { written, options, kinds, lenient }: SpecifierContext): RuleTest | RuleFault {
  const tests = new Map<RuleKind, RuleTest>();
  let fault: RuleFault | undefined;
  for (const kind of kinds) {
    const read = kind.read(specifier, written, options);
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

function testByUnit(tests: ReadonlyMap<RuleKind, RuleTest>, verdict: Verdict): RuleTest["test"] {
  return (request, unit) => {
    const kind = RULE_KINDS.find(({ isAbout }) => isAbout?.(unit));
    const found = kind && tests.get(kind);
    return found ? found.test(request, unit) : verdict === "allow" ? "no" : "doubt";
  };
}
