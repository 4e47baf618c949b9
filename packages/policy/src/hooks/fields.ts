import { isObject } from "@assent/core";
import { HOOK_EVENTS, type HookEventRow, type HookPoint, hookMayChange } from "@assent/core/parts";

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

type HookField = { readonly expected: string; readonly holds: (value: unknown) => boolean; readonly only?: WrittenHook["type"] };

const TEXT_FIELD: HookField = { expected: "a string that is not empty", holds: (value) => isLine(value) && value.trim() !== "" };

export const HOOK_FIELDS: { readonly [Name in keyof Required<WrittenHook>]: HookField } = {
  type: { expected: "command or function", holds: isOneOf(["command", "function"]) },
  command: { ...TEXT_FIELD, only: "command" },
  args: { expected: "a list of strings", holds: isLines, only: "command" },
  env: { expected: "an object of strings by variable name", holds: isEnvironment, only: "command" },
  passEnv: { expected: "a list of variable names", holds: (value) => isLines(value) && value.every(isVariable), only: "command" },
  function: { ...TEXT_FIELD, only: "function" },
  timeout: { expected: "a number of seconds, at most 3600", holds: (value) => typeof value === "number" && value <= 3600 },
  onFailure: { expected: "block or warn", holds: isOneOf(["block", "warn"]) },
  async: { expected: "true or false", holds: (value) => typeof value === "boolean" },
  name: TEXT_FIELD,
  if: TEXT_FIELD,
};

const OTHER_TYPE = { command: "function", function: "command" } as const;

export type FieldFault = { readonly field: string; readonly expected?: string };

/** Reads the fields of a hook. A fault without `expected` is a field this type does not have. */
export function readHookFields(
  value: Readonly<Record<string, unknown>>,
): { readonly hook: WrittenHook } | { readonly faults: readonly FieldFault[] } {
  const faults: FieldFault[] = [];
  for (const [field, given] of Object.entries(value)) {
    const known = isField(field) ? HOOK_FIELDS[field] : undefined;
    if (!known || (known.only !== undefined && OTHER_TYPE[known.only] === value["type"])) faults.push({ field });
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

type PlacedHook = { readonly event: HookPoint; readonly hook: WrittenHook; readonly functions: readonly string[] };

type Contradiction = { readonly field?: keyof WrittenHook; readonly message: string };

type ContradictionCase = PlacedHook & { readonly row: HookEventRow };
type ContradictionCheck = {
  readonly field?: keyof WrittenHook;
  readonly when: (found: ContradictionCase) => boolean;
  readonly message: (found: ContradictionCase) => string;
};

/** Combinations that make no sense. A hook that could never protect is an error. */
const CHECKS: readonly ContradictionCheck[] = [
  { when: ({ hook }) => hook.type === "command" && hook.command === undefined, message: () => "needs a 'command'" },
  { when: ({ hook }) => hook.type === "function" && hook.function === undefined, message: () => "needs a 'function'" },
  {
    field: "function",
    when: ({ hook, functions }) => hook.function !== undefined && !functions.includes(hook.function),
    message: ({ hook }) => `names a function that this program does not have: '${hook.function}'`,
  },
  {
    field: "onFailure",
    when: ({ hook, row }) => hook.onFailure === "warn" && row.failsClosed !== "no",
    message: ({ event }) => `cannot be warn: a failing hook on ${event} must block`,
  },
  {
    field: "onFailure",
    when: ({ hook, row }) => hook.onFailure === "block" && row.failsClosed === "no" && row.blocks === "no",
    message: ({ event }) => `cannot be block: nothing can be blocked on ${event}`,
  },
  {
    field: "onFailure",
    when: ({ hook }) => hook.onFailure === "block" && hook.async === true,
    message: () => "cannot be block in an async hook",
  },
  {
    field: "async",
    when: ({ hook, row }) => hook.async === true && hookMayChange(row),
    message: ({ event }) => `cannot be true: Assent waits for the answer of a hook on ${event}`,
  },
  {
    field: "if",
    when: ({ hook, row }) => hook.if !== undefined && !row.matchesOn.includes("tool"),
    message: ({ event }) => `has no effect on ${event}, which is not about a call`,
  },
];

export function findContradictions(placed: PlacedHook): readonly Contradiction[] {
  const found = { ...placed, row: HOOK_EVENTS[placed.event] };
  return CHECKS.filter(({ when }) => when(found)).map(({ field, message }) => ({ ...(field && { field }), message: message(found) }));
}
