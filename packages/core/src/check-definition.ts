import { type DefinitionCode, ToolDefinitionError } from "./errors.ts";
import { isObject } from "./model/json/json.ts";
import { KINDS, MUTATOR_KINDS } from "./model/kind.ts";
import { messageOf } from "./model/result/thrown.ts";
import { acceptsObjects } from "./model/schema/accepts-objects.ts";
import { editDistance } from "./model/text/edit-distance.ts";
import { isStandardSchema } from "./standard-schema.ts";
import type { PathUse, ToolDefinition } from "./tool-definition.ts";

type Fields = Readonly<Record<string, unknown>>;

const DATA = [
  "name",
  "title",
  "description",
  "kind",
  "input",
  "inputSchema",
  "inputAliases",
  "origin",
  "pathArguments",
  "modify",
  "effectPreview",
  "runtimeHandler",
] as const;
const FLAGS = ["isOutputMarkdown", "canUpdateOutput", "hidden", "pollSafe", "alwaysStages"] as const;
const SETTINGS = ["annotations", "modelOverride", "timeoutMs", "maxOutputChars", "maxOutputLines", "keep"] as const;
const FUNCTIONS = [
  "check",
  "describe",
  "locations",
  "permission",
  "safe",
  "fails",
  "confirm",
  "preview",
  "apply",
  "run",
  "idempotencyKey",
  "probe",
] as const;
const FIELDS: readonly string[] = [...DATA, ...FLAGS, ...SETTINGS, ...FUNCTIONS] satisfies readonly (keyof ToolDefinition)[];
const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;
const MAX_TIMEOUT = 2_147_483_647;

/** The rules for a definition, in the order in which they are reported. */
const RULES: readonly (readonly [DefinitionCode, (fields: Fields) => string | undefined])[] = [
  ["unknown_field", unknownField],
  ["bad_name", badName],
  ["bad_description", badDescription],
  ["bad_kind", badKind],
  ["bad_schema", badSchema],
  ["bad_body", badBody],
  ["contradiction", contradiction],
  ["bad_limit", badLimit],
];

/** Checks and freezes a definition. Throws `ToolDefinitionError`. */
export function parseDefinition(given: unknown): ToolDefinition {
  if (!isObject(given)) throw new ToolDefinitionError("bad_name", "A tool definition must be an object.");
  const fields: Fields = { ...given };
  for (const [code, rule] of RULES) {
    const fault = rule(fields);
    if (fault !== undefined) throw new ToolDefinitionError(code, `Tool '${String(fields["name"])}': ${fault}.`);
  }
  return Object.freeze(freezeParts(fields)) as unknown as ToolDefinition;
}

function freezeParts(fields: Fields): Fields {
  const frozen: Record<string, unknown> = { ...fields };
  for (const part of ["annotations", "inputAliases", "pathArguments", "modify", "effectPreview"]) {
    const value = frozen[part];
    if (isObject(value)) frozen[part] = Object.freeze({ ...value });
  }
  if (!isStandardSchema(fields["input"])) frozen["input"] = frozenJson(fields["input"]);
  if (fields["inputSchema"] !== undefined) frozen["inputSchema"] = frozenJson(fields["inputSchema"]);
  return frozen;
}

/** Other libraries' names for our fields, spelled too differently for suggestions. */
const ELSEWHERE: Readonly<Record<string, string>> = { parameters: "input", execute: "run" };

function unknownField(fields: Fields): string | undefined {
  const field = Object.keys(fields).find((key) => !FIELDS.includes(key));
  if (field === undefined) return undefined;
  if (Object.hasOwn(ELSEWHERE, field)) return `unknown field '${field}'; here it is called '${ELSEWHERE[field]}'`;
  const distance = (known: string): number => editDistance(field.slice(0, 64).toLowerCase(), known.toLowerCase(), 64);
  const nearest = FIELDS.reduce((best, known) => (distance(known) < distance(best) ? known : best));
  return `unknown field '${field}'; the nearest known one is '${nearest}'`;
}

function badName({ name }: Fields): string | undefined {
  return typeof name === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(name)
    ? undefined
    : "a name is 1 to 64 letters, digits, underscores and hyphens";
}

function badDescription({ description, title }: Fields): string | undefined {
  if (typeof description !== "string" || description.trim() === "") return "a description for the model is required";
  if (title !== undefined && (typeof title !== "string" || title.trim() === "")) return "a title must be a text";
  return undefined;
}

function badKind({ kind }: Fields): string | undefined {
  return KINDS.some((known) => known === kind) ? undefined : `kind must be one of ${KINDS.join(", ")}`;
}

function badSchema({ input, inputSchema, inputAliases, origin, pathArguments }: Fields): string | undefined {
  const ofInput = isStandardSchema(input) ? undescribed(input, inputSchema) : badJsonSchema("input", input);
  if (ofInput !== undefined) return ofInput;
  if (
    inputAliases !== undefined &&
    !(isObject(inputAliases) && Object.values(inputAliases).every((property) => typeof property === "string"))
  ) {
    return "inputAliases must map other spellings to the names of properties";
  }
  if (pathArguments !== undefined && !(isObject(pathArguments) && Object.values(pathArguments).every(isPathUse)))
    return "pathArguments must map arguments to read, write or remove";
  if (origin !== undefined && typeof origin !== "string") return "origin must be a text";
  return inputSchema === undefined ? undefined : badJsonSchema("inputSchema", inputSchema);
}

export function isPathUse(value: unknown): value is PathUse {
  return value === "read" || value === "write" || value === "remove";
}

function undescribed(input: { readonly "~standard": { readonly jsonSchema?: unknown } }, inputSchema: unknown): string | undefined {
  const offered = isObject(input["~standard"].jsonSchema) || "toJSONSchema" in input;
  return offered || inputSchema !== undefined
    ? undefined
    : "its schema does not describe itself as JSON Schema: give inputSchema next to input";
}

function badJsonSchema(field: string, schema: unknown): string | undefined {
  if (typeof schema !== "boolean" && !isPlain(schema)) return `${field} must be a Standard Schema or a JSON Schema`;
  try {
    frozenJson(schema);
  } catch (error) {
    return `${field} is not JSON: ${messageOf(error)}`;
  }
  return acceptsObjects(schema) ? undefined : `${field} must accept objects at its root`;
}

/** Class instances are some library's schemas, which we cannot read; "~standard" marks a broken one. */
function isPlain(schema: unknown): boolean {
  if (!isObject(schema) || "~standard" in schema) return false;
  const prototype: unknown = Object.getPrototypeOf(schema);
  return prototype === Object.prototype || prototype === null;
}

function badBody(fields: Fields): string | undefined {
  const wrong = FUNCTIONS.find((field) => fields[field] !== undefined && typeof fields[field] !== "function");
  if (wrong !== undefined) return `${wrong} must be a function`;
  const generator = ["run", "preview", "apply"].find((field) => isGenerator(fields[field]));
  if (generator !== undefined) return `${generator} must return one value, so it cannot be a generator; ctx.update shows progress`;
  const { run, runtimeHandler, preview, apply } = fields;
  if (runtimeHandler !== undefined && (typeof runtimeHandler !== "string" || runtimeHandler === "")) return "runtimeHandler must be an id";
  if ((preview === undefined) !== (apply === undefined)) return "preview needs apply, and apply needs preview";
  const bodies = [run, runtimeHandler, preview].filter((body) => body !== undefined).length;
  if (bodies !== 1) return "exactly one of run, runtimeHandler, or preview with apply is required";
  return fields["alwaysStages"] !== undefined && preview === undefined ? "alwaysStages needs preview and apply" : undefined;
}

function isGenerator(body: unknown): boolean {
  return typeof body === "function" && /^\[object (?:Async)?GeneratorFunction\]$/.test(Object.prototype.toString.call(body));
}

function contradiction({ annotations, kind }: Fields): string | undefined {
  if (annotations === undefined) return undefined;
  if (!isObject(annotations)) return "annotations must be an object of hints";
  const wrong = HINTS.find((hint) => annotations[hint] !== undefined && typeof annotations[hint] !== "boolean");
  if (wrong !== undefined) return `${wrong} must be true or false`;
  if (annotations["readOnlyHint"] !== true) return undefined;
  if (annotations["destructiveHint"] === true) return "it cannot be both read-only and destructive";
  return MUTATOR_KINDS.some((mutator) => mutator === kind) ? `a tool of kind ${String(kind)} cannot be read-only` : undefined;
}

function badLimit({ timeoutMs, maxOutputChars, maxOutputLines, keep }: Fields): string | undefined {
  if (timeoutMs !== undefined && !isCount(timeoutMs, 1, MAX_TIMEOUT)) return `timeoutMs must be an integer from 1 to ${MAX_TIMEOUT}`;
  if (!isLimit(maxOutputChars, 1000)) return "maxOutputChars must be an integer of at least 1000, or Infinity";
  if (!isLimit(maxOutputLines, 1)) return "maxOutputLines must be an integer of at least 1, or Infinity";
  return keep === undefined || keep === "head" || keep === "tail" || keep === "both" ? undefined : "keep must be head, tail or both";
}

function isLimit(value: unknown, least: number): boolean {
  return value === undefined || value === Number.POSITIVE_INFINITY || isCount(value, least, Number.MAX_SAFE_INTEGER);
}

function isCount(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}

/** The deep-frozen JSON copy of a schema; throws for what is not JSON. */
export function frozenJson(value: unknown): unknown {
  const text = JSON.stringify(value, (key, inner: unknown) => {
    if (typeof inner === "function" || typeof inner === "symbol") throw new TypeError(`'${key}' is a ${typeof inner}`);
    return inner;
  });
  return JSON.parse(text, (_, inner: unknown) => Object.freeze(inner));
}
