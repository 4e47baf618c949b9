import { registerHooks } from "node:module";
import { basename, dirname, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { JsonSchema, StandardSchema } from "@assent/core";
import { defineTool, editDistance, isObject, KINDS } from "@assent/core/setup";
import type { CustomTool, CustomToolApi } from "./custom-tool.ts";
import { fileDigest } from "./file-digest.ts";
import { DATA_FIELDS, type DescribedItem, type DescribedTool, type LoadReport, TOOL_FUNCTIONS } from "./thread-messages.ts";
import { definitionProblem, errorLine, type FailureType } from "./tool-failure.ts";
import { factoryApi } from "./worker-api.ts";
import { post, START } from "./worker-channel.ts";

export const EXIT_REFUSED = "Module tried to exit the process";

/** A module's tools by their index in the factory's list, and the report for the program. */
export type LoadedModule = { readonly tools: readonly (CustomTool | undefined)[]; readonly report: LoadReport };

/** Imports the module, calls its factory and describes its tools. Never rejects. */
export async function loadModule(): Promise<LoadedModule> {
  tellFiles();
  const imported = await settled(() => import(pathToFileURL(START.file).href));
  if ("thrown" in imported) return failed("load_error", importWords(imported.thrown));
  post({ type: "imported" });
  const factory = factoryOf(imported.value);
  if (!factory) return failed("bad_export", "Default export is not a factory function");
  const made = await settled(async () => listed(await factory(factoryApi())));
  if ("thrown" in made) return failed("factory_error", `Factory failed: ${errorLine(made.thrown)}`);
  if (!made.value) return failed("factory_error", "Factory returned no tool");
  const described = made.value.map((given, index) => describeTool(given, index + 1));
  return { tools: described.map(({ tool }) => tool), report: { items: described.map(({ item }) => item) } };
}

export function failed(type: FailureType, reason: string): LoadedModule {
  return { tools: [], report: { failure: { type, reason } } };
}

/** Reports the module's files: a restarted thread must run the same code. */
function tellFiles(): void {
  const folder = `${dirname(START.file)}${sep}`;
  const sent = new Set<string>();
  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      if (!found.url.startsWith("file:")) return found;
      const path = fileURLToPath(found.url);
      const isOwn = path.startsWith(folder) || !path.includes(`${sep}node_modules${sep}`);
      if (isOwn && !sent.has(path)) post({ type: "file", path, digest: fileDigest(path) });
      sent.add(path);
      return found;
    },
  });
}

/** Undefined if it is neither a tool nor a list. */
function listed(returned: unknown): readonly unknown[] | undefined {
  if (Array.isArray(returned)) return [...returned];
  return typeof returned === "object" && returned !== null ? [returned] : undefined;
}

/** Also unwraps a CommonJS module compiled from an ES module. */
function factoryOf(namespace: unknown): ((api: CustomToolApi) => unknown) | undefined {
  const given: unknown = Reflect.get(Object(namespace), "default");
  const inner: unknown = isObject(given) && given["__esModule"] === true ? given["default"] : given;
  // its result is checked
  return typeof inner === "function" ? (inner as (api: CustomToolApi) => unknown) : undefined;
}

type SettledFactory<T> = { readonly value: T } | { readonly thrown: unknown };

async function settled<T>(begin: () => Promise<T>): Promise<SettledFactory<T>> {
  try {
    return { value: await begin() };
  } catch (thrown) {
    return { thrown };
  }
}

type DescriptionAttempt = { readonly item: DescribedItem; readonly tool?: CustomTool };

/** The schema's own code runs only here. The program checks everything else. */
function describeTool(given: unknown, at: number): DescriptionAttempt {
  const parsed = parseTool(given, at);
  if ("fault" in parsed) return { item: parsed };
  const { tool } = parsed;
  const { name, description, parameters } = tool;
  try {
    const unfit = plainFault(parameters);
    if (unfit !== undefined) return { item: { name, fault: `Tool "${name}": ${unfit}` } };
    const definition = { name, description, kind: "other", input: parameters as JsonSchema, run: () => "" } as const; // checked by defineTool
    const { inputSchema, schemaIsRecursive: _ } = defineTool(definition);
    const data = Object.fromEntries(DATA_FIELDS.filter((field) => tool[field] !== undefined).map((field) => [field, tool[field]]));
    const functions = TOOL_FUNCTIONS.filter((field) => tool[field] !== undefined);
    const schemaKind = "~standard" in Object(parameters) ? "standard" : "plain";
    const described = structuredClone({ ...data, schemaKind, inputSchema, functions }) as unknown as DescribedTool; // parsed above
    return { item: { tool: described }, tool };
  } catch (error) {
    return { item: { name, fault: `Tool "${name}": ${definitionProblem(error, START.shownFile)}` } };
  }
}

/** A plain JSON Schema must declare an object. */
function plainFault(parameters: StandardSchema | JsonSchema): string | undefined {
  if (typeof parameters === "function" || (isObject(parameters) && ("~standard" in parameters || parameters["type"] === "object")))
    return undefined;
  return 'parameters must be a zod schema, or a JSON Schema with type "object"';
}

const COMPILED = ["ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX", "ERR_INVALID_TYPESCRIPT_SYNTAX"];

/** Adds where it happened, and what type stripping does not support. */
function importWords(thrown: unknown): string {
  const code: unknown = thrown instanceof Error ? Reflect.get(thrown, "code") : undefined;
  const needsCompiler = typeof code === "string" && COMPILED.includes(code);
  const hint = needsCompiler ? ". Types are only removed: enums, namespaces, parameter properties and JSX need compiling" : "";
  return `${errorLine(thrown)}${placeOf(thrown)}${hint}`;
}

/** Node prints the place above the message; otherwise the first stack frame has it. */
function placeOf(thrown: unknown): string {
  const stack = thrown instanceof Error ? (thrown.stack ?? "") : "";
  const above = /^(?:file:\/\/)?(\/.*?):(\d+)\n/.exec(stack);
  const below = /^[^\n]*\n\s+at (?:.*\()?(?:file:\/\/)?(\/.*?):(\d+):\d+\)?(?:\n|$)/.exec(stack);
  const [, path, line] = above ?? below ?? [];
  if (path === undefined || line === undefined) return "";
  const name = basename(decodeURI(path));
  return name === basename(START.file) ? ` (line ${line})` : ` (${name} line ${line})`;
}

type ParsedTool = { readonly tool: CustomTool } | { readonly name?: string; readonly fault: string };

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
function parseTool(given: unknown, at: number): ParsedTool {
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
