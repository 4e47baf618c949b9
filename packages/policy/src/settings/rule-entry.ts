import { isObject } from "@assent/core";
import type { RuleExamples } from "../rules/examples.ts";
import { describeValue, type ValueFault, type ValueReading, wrongValue } from "./setting-values.ts";

export type RuleObject = RuleExamples & {
  readonly rule: string;
  readonly because?: string;
  readonly bind?: { readonly script: string };
  /** Whose calls it is about; absent: everyone's. */
  readonly client?: string;
};

/** Who makes calls: Assent itself, and the agents that ask it in a hook. */
export const CLIENT_NAMES: readonly string[] = ["assent", "claude", "codex", "gemini", "qwen", "opencode"];

const KNOWN_KEYS: readonly string[] = ["rule", "match", "notMatch", "because", "bind", "client"];

const MAX_BECAUSE_LENGTH = 500;

/** Reads an entry of a rule list, without parsing the rule itself. */
export function readRuleObject(value: unknown): ValueReading<RuleObject> {
  if (typeof value === "string") return { value: { rule: value } };
  if (!isObject(value)) return wrongValue("a rule, as a string or an object", value);
  const faults = [...findUnknownKeys(value), ...findRuleFaults(value)];
  return faults.length > 0 ? { faults } : { value: value as RuleObject };
}

function findUnknownKeys(value: Readonly<Record<string, unknown>>): readonly ValueFault[] {
  return Object.keys(value)
    .filter((key) => !KNOWN_KEYS.includes(key))
    .map((key) => ({ path: [key], message: `is unknown; a rule can have ${KNOWN_KEYS.join(", ")}`, unknownKey: true }));
}

function findRuleFaults({ rule, match, notMatch, because, bind, client }: Readonly<Record<string, unknown>>): readonly ValueFault[] {
  const faults: ValueFault[] = [...findExampleFaults("match", match), ...findExampleFaults("notMatch", notMatch)];
  if (rule === undefined) faults.push({ path: [], message: "must have a rule" });
  else if (typeof rule !== "string") faults.push({ path: ["rule"], message: `must be a string, not ${describeValue(rule)}` });
  if (because !== undefined && !isReason(because))
    faults.push({ path: ["because"], message: `must be one line of at most ${MAX_BECAUSE_LENGTH} characters` });
  if (bind !== undefined && !isBind(bind))
    faults.push({ path: ["bind"], message: 'must be {"script": "sha256:…"} with 64 hexadecimal digits' });
  if (client !== undefined && !CLIENT_NAMES.includes(String(client)))
    faults.push({ path: ["client"], message: `must be one of ${CLIENT_NAMES.join(", ")}` });
  return faults;
}

function findExampleFaults(name: string, examples: unknown): readonly ValueFault[] {
  if (examples === undefined) return [];
  if (!Array.isArray(examples)) return [{ path: [name], message: `must be a list, not ${describeValue(examples)}` }];
  return examples.flatMap((example, index) =>
    typeof example === "string" || isObject(example)
      ? []
      : [{ path: [name, index], message: `must be a string or a tool's input, not ${describeValue(example)}` }],
  );
}

function isReason(value: unknown): boolean {
  return typeof value === "string" && value.length <= MAX_BECAUSE_LENGTH && !/[\r\n\u2028\u2029]/.test(value);
}

function isBind(value: unknown): boolean {
  if (!isObject(value) || Object.keys(value).join() !== "script") return false;
  return typeof value["script"] === "string" && /^sha256:[0-9a-f]{64}$/.test(value["script"]);
}
