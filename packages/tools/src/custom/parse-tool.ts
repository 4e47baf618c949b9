import { editDistance, KINDS } from "@assent/core";
import type { CustomTool } from "./custom-tool.ts";
import { TOOL_FUNCTIONS } from "./thread-messages.ts";
import { errorLine } from "./tool-failure.ts";

export type ParsedTool = { readonly tool: CustomTool } | { readonly name?: string; readonly fault: string };

type ToolFields = Readonly<Record<string, unknown>>;

const FLAGS = ["readOnly", "hidden", "pollSafe"] as const;
const FIELDS: readonly (keyof CustomTool)[] = [
  "name",
  "label",
  "description",
  "parameters",
  "kind",
  "timeoutMs",
  ...FLAGS,
  ...TOOL_FUNCTIONS,
];
const LONGEST_DESCRIPTION = 10_000;

/** Missing fields, in the order in which they are reported. */
const MISSING: readonly (readonly [fault: string, rule: (fields: ToolFields) => boolean, elsewhere?: string])[] = [
  ["description is missing", ({ description }) => typeof description !== "string" || description.trim() === ""],
  ["parameters are missing", ({ parameters }) => parameters === undefined || parameters === null, "input"],
  ["execute is missing", ({ execute, preview, apply }) => execute === undefined && preview === undefined && apply === undefined, "run"],
];

/** Fields with a wrong value. */
const WRONG: readonly (readonly [fault: string, rule: (fields: ToolFields) => boolean])[] = [
  [`description is longer than ${LONGEST_DESCRIPTION} characters`, ({ description }) => String(description).length > LONGEST_DESCRIPTION],
  ["preview needs apply", ({ preview, apply }) => preview !== undefined && apply === undefined],
  ["apply needs preview", ({ preview, apply }) => preview === undefined && apply !== undefined],
  ["label must be a non-empty string", ({ label }) => label !== undefined && (typeof label !== "string" || label.trim() === "")],
  [`kind must be one of ${KINDS.join(", ")}`, ({ kind }) => kind !== undefined && !KINDS.some((known) => known === kind)],
  ...TOOL_FUNCTIONS.map((field) => [`${field} must be a function`, isWrong(field, "function")] as const),
  ...FLAGS.map((field) => [`${field} must be true or false`, isWrong(field, "boolean")] as const),
];

function isWrong(field: string, type: string): (fields: ToolFields) => boolean {
  return (fields) => fields[field] !== undefined && typeof fields[field] !== type;
}

/** Checks what a factory returned and reads every field once. `at` counts from 1. The schema is checked later. */
export function parseTool(given: unknown, at: number): ParsedTool {
  try {
    return typeof given === "object" && given !== null ? parseFields(given, at) : { fault: `Tool #${at}: not a tool` };
  } catch (error) {
    return { fault: `Tool #${at}: cannot be read: ${errorLine(error)}` };
  }
}

function parseFields(given: object, at: number): ParsedTool {
  const fields: ToolFields = Object.fromEntries(FIELDS.map((field) => [field, Reflect.get(given, field)]));
  const { name } = fields;
  if (name === undefined) return { fault: `Tool #${at}: name is missing` };
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return { fault: `Tool #${at}: invalid name ${quoteName(name)}` };
  const [missing, , elsewhere] = MISSING.find(([, rule]) => rule(fields)) ?? [];
  const instead = elsewhere !== undefined && elsewhere in given ? `; "${elsewhere}" is its name in defineTool` : "";
  if (missing !== undefined) return { name, fault: `Tool #${at} ("${name}"): ${missing}${instead}` };
  const wrong = WRONG.find(([, rule]) => rule(fields))?.[0] ?? findMisspelling(given);
  if (wrong !== undefined) return { name, fault: `Tool "${name}": ${wrong}` };
  return { tool: bindFunctions(given, fields) };
}

function quoteName(name: unknown): string {
  const text = typeof name === "string" ? name.slice(0, 80) : errorLine(name);
  return JSON.stringify(text.toWellFormed());
}

/** Other fields are allowed, but one that is almost ours is probably a typo. */
function findMisspelling(given: object): string | undefined {
  for (const field of Object.keys(given)) {
    if (FIELDS.some((known) => known === field)) continue;
    const near = FIELDS.find(
      (known) => editDistance(field.slice(0, 32).toLowerCase(), known.toLowerCase(), 2) <= (known.length > 5 ? 2 : 1),
    );
    if (near !== undefined) return `unknown field "${field}"; did you mean "${near}"?`;
  }
  return undefined;
}

/** Binds functions to their object, so what was checked is what runs. */
function bindFunctions(given: object, fields: ToolFields): CustomTool {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  const parsed = Object.fromEntries(entries.map(([field, value]) => [field, isMethod(field, value) ? value.bind(given) : value]));
  // every field was checked above
  return parsed as unknown as CustomTool;
}

function isMethod(field: string, value: unknown): value is (...words: readonly unknown[]) => unknown {
  return typeof value === "function" && TOOL_FUNCTIONS.some((known) => known === field);
}
