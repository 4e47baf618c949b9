import { isObject } from "@assent/core";

/** One hook as a settings file has it, every field of its right type. */
export type WrittenHook = {
  readonly type: "command" | "function";
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly passEnv?: readonly string[];
  readonly function?: string;
  readonly timeout?: number;
  readonly onFailure?: "block" | "warn";
  readonly async?: boolean;
  readonly name?: string;
  readonly if?: string;
};

type Field = { readonly expected: string; readonly holds: (value: unknown) => boolean; readonly only?: WrittenHook["type"] };

const text: Field = { expected: "a text that is not empty", holds: (value) => isLine(value) && value.trim() !== "" };

/** Every field a hook may have; `only`: for one type of hook. */
export const HOOK_FIELDS: { readonly [Name in keyof Required<WrittenHook>]: Field } = {
  type: { expected: "command or function", holds: isOneOf(["command", "function"]) },
  command: { ...text, only: "command" },
  args: { expected: "a list of texts", holds: isLines, only: "command" },
  env: { expected: "an object of texts by variable name", holds: isEnvironment, only: "command" },
  passEnv: { expected: "a list of variable names", holds: (value) => isLines(value) && value.every(isVariable), only: "command" },
  function: { ...text, only: "function" },
  timeout: { expected: "a number of seconds, at most 3600", holds: (value) => typeof value === "number" && value <= 3600 },
  onFailure: { expected: "block or warn", holds: isOneOf(["block", "warn"]) },
  async: { expected: "true or false", holds: (value) => typeof value === "boolean" },
  name: text,
  if: text,
};

const OTHER = { command: "function", function: "command" } as const;

/** What is wrong with one field. */
export type FieldFault = { readonly field: string; readonly expected?: string };

/** The fields of one hook, or all that is wrong with them; a fault without an expectation is a field that this type of hook does not have. */
export function readHookFields(
  value: Readonly<Record<string, unknown>>,
): { readonly hook: WrittenHook } | { readonly faults: readonly FieldFault[] } {
  const faults: FieldFault[] = [];
  for (const [field, given] of Object.entries(value)) {
    const known = isField(field) ? HOOK_FIELDS[field] : undefined;
    if (!known || (known.only !== undefined && OTHER[known.only] === value["type"])) faults.push({ field });
    else if (!known.holds(given)) faults.push({ field, expected: known.expected });
  }
  if (!Object.hasOwn(value, "type")) faults.push({ field: "type", expected: HOOK_FIELDS.type.expected });
  // Parsing: every field was just checked.
  return faults.length > 0 ? { faults } : { hook: value as WrittenHook };
}

function isField(name: string): name is keyof WrittenHook {
  return Object.hasOwn(HOOK_FIELDS, name);
}

function isOneOf(words: readonly string[]): (value: unknown) => boolean {
  return (value) => typeof value === "string" && words.includes(value);
}

/** No system passes a NUL to a program. */
function isLine(value: unknown): value is string {
  return typeof value === "string" && !value.includes("\0");
}

function isLines(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isLine);
}

function isVariable(name: string): boolean {
  return name !== "" && !name.includes("=");
}

function isEnvironment(value: unknown): boolean {
  return isObject(value) && Object.keys(value).every((name) => isLine(name) && isVariable(name)) && Object.values(value).every(isLine);
}
