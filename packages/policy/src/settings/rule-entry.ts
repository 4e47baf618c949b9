import { isObject } from "@assent/core";
import type { RuleExamples } from "../rules/examples.ts";
import { type Fault, type Reading, shownValue } from "./setting-values.ts";

/** A rule as it stands in a settings file, in the long form. */
export type RuleObject = RuleExamples & {
  readonly rule: string;
  readonly because?: string;
  readonly bind?: { readonly script: string };
};

const KNOWN: readonly string[] = ["rule", "match", "notMatch", "because", "bind"];

const LONGEST_BECAUSE = 500;

/** Understands one entry of a list of rules, a text or an object; the rule's own notation is not looked at. */
export function readRuleObject(value: unknown): Reading<RuleObject> {
  if (typeof value === "string") return { value: { rule: value } };
  if (!isObject(value)) return { faults: [{ path: [], message: `must be a rule, as a text or an object, not ${shownValue(value)}` }] };
  const faults = [...strangers(value), ...ruleFaults(value)];
  return faults.length > 0 ? { faults } : { value: value as RuleObject };
}

function strangers(value: Readonly<Record<string, unknown>>): readonly Fault[] {
  return Object.keys(value)
    .filter((key) => !KNOWN.includes(key))
    .map((key) => ({ path: [key], message: `is not known; a rule has ${KNOWN.join(", ")}`, unknownKey: true }));
}

function ruleFaults({ rule, match, notMatch, because, bind }: Readonly<Record<string, unknown>>): readonly Fault[] {
  const faults: Fault[] = [...exampleFaults("match", match), ...exampleFaults("notMatch", notMatch)];
  if (rule === undefined) faults.push({ path: [], message: "must have a rule" });
  else if (typeof rule !== "string") faults.push({ path: ["rule"], message: `must be a text, not ${shownValue(rule)}` });
  if (because !== undefined && !isReason(because))
    faults.push({ path: ["because"], message: `must be one line of at most ${LONGEST_BECAUSE} characters` });
  if (bind !== undefined && !isBind(bind))
    faults.push({ path: ["bind"], message: 'must be {"script": "sha256:…"} with 64 hexadecimal digits' });
  return faults;
}

function exampleFaults(name: string, examples: unknown): readonly Fault[] {
  if (examples === undefined) return [];
  if (!Array.isArray(examples)) return [{ path: [name], message: `must be a list, not ${shownValue(examples)}` }];
  return examples.flatMap((example, index) =>
    typeof example === "string" || isObject(example)
      ? []
      : [{ path: [name, index], message: `must be a text or a tool's input, not ${shownValue(example)}` }],
  );
}

function isReason(value: unknown): boolean {
  return typeof value === "string" && value.length <= LONGEST_BECAUSE && !/[\r\n\u2028\u2029]/.test(value);
}

function isBind(value: unknown): boolean {
  if (!isObject(value) || Object.keys(value).join() !== "script") return false;
  return typeof value["script"] === "string" && /^sha256:[0-9a-f]{64}$/.test(value["script"]);
}
