import { createRequire } from "node:module";
import { createContext, Script } from "node:vm";
import { canonicalJson, isObject, type JsonSchema, type SchemaProblem, type Schemas, type Validator } from "@assent/core";
import type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv";
import type { FormatName, FormatsPlugin } from "ajv-formats";

/** Limit for compiled schemas; far more than a session has tools. */
const KEPT = 1000;

/**
 * Compiles JSON Schema with ajv, which is loaded on first use. Supports draft-07, and 2020-12 if `$schema` names it. Unknown keywords
 * and formats are ignored; anything else that ajv does not understand is refused. Nothing is fetched, and equal schemas are compiled
 * once.
 */
export function ajvSchemas(): Schemas {
  const compiled = new Map<string, Validator>();
  const dialects = new Map<Dialect, Ajv>();
  return {
    compile(schema) {
      const text = canonicalJson(schema);
      const known = compiled.get(text) ?? compile(schema, dialects);
      compiled.delete(text);
      compiled.set(text, known);
      if (compiled.size > KEPT) compiled.delete(compiled.keys().next().value ?? "");
      return known;
    },
  };
}

type Dialect = "draft-07" | "2020-12";

const FORMATS: FormatName[] = [
  "date",
  "time",
  "date-time",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "json-pointer",
  "relative-json-pointer",
  "regex",
  "uri",
  "uri-reference",
  "uuid",
];

const DIALECTS: Readonly<Record<string, Dialect>> = {
  "json-schema.org/draft-07/schema": "draft-07",
  "json-schema.org/draft/2020-12/schema": "2020-12",
};

function readDialect(schema: JsonSchema): Dialect {
  const named: unknown = isObject(schema) ? schema["$schema"] : undefined;
  if (named === undefined) return "draft-07";
  const dialect = typeof named === "string" ? DIALECTS[named.replace(/^https?:\/\//, "").replace(/#$/, "")] : undefined;
  if (!dialect) throw new Error(`unknown dialect ${JSON.stringify(named)}: draft-07 and 2020-12 are known`);
  return dialect;
}

const OPTIONS: Options = {
  strict: false,
  allErrors: true,
  ownProperties: true, // `toString` is not a property of an input
  logger: false,
  code: { regExp: Object.assign(regularExpression, { code: "" }) },
};

/** The standard wants Unicode mode, but many schemas in use only compile without it. */
function regularExpression(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return new RegExp(pattern, flags.replace("u", ""));
  }
}

function loadAjv(dialect: Dialect): Ajv {
  const require = createRequire(import.meta.url);
  const module: { readonly default: new (options: Options) => Ajv } = require(dialect === "draft-07" ? "ajv" : "ajv/dist/2020.js");
  const ajv = new module.default(OPTIONS);
  const formats: { readonly default: FormatsPlugin } = require("ajv-formats");
  formats.default(ajv, FORMATS);
  return ajv;
}

function compile(schema: JsonSchema, dialects: Map<Dialect, Ajv>): Validator {
  const dialect = readDialect(schema);
  const ajv = dialects.get(dialect) ?? loadAjv(dialect);
  dialects.set(dialect, ajv);
  const validate = compileAlone(ajv, withoutDialect(schema));
  const check = hasSlowKeyword(schema) ? (value: unknown) => checkInTime(() => validate(value)) : (value: unknown) => validate(value);
  return (value) => {
    const isValid = check(value);
    if (isValid === "too_slow") return [TOO_SLOW];
    return isValid ? NO_PROBLEMS : (validate.errors ?? []).map(toProblem);
  };
}

/** A pattern can take years with some values, and `uniqueItems` compares each item with all others. */
function hasSlowKeyword(schema: JsonSchema): boolean {
  return /"(pattern|patternProperties|uniqueItems)":/.test(JSON.stringify(schema));
}

const CHECK_LIMIT_MS = 1000;

const TOO_SLOW: SchemaProblem = { pointer: "", text: `takes longer than ${CHECK_LIMIT_MS / 1000} s to compare with the schema` };

const caller: { check: () => boolean } = { check: () => true };
let callCheck: (() => unknown) | undefined;

/** Node can only interrupt code that a `vm` script started. */
function checkInTime(check: () => boolean): boolean | "too_slow" {
  callCheck ??= prepareCall();
  caller.check = check;
  try {
    return callCheck() === true;
  } catch (error) {
    // The error comes from the script's own context, so `instanceof Error` is false.
    if (isObject(error) && error["code"] === "ERR_SCRIPT_EXECUTION_TIMEOUT") return "too_slow";
    throw error;
  }
}

function prepareCall(): () => unknown {
  const script = new Script("check()");
  const context = createContext(caller);
  return () => script.runInContext(context, { timeout: CHECK_LIMIT_MS });
}

/** Ajv remembers every `$id`, even of a schema that failed. Forget them, so schemas cannot refer to each other. */
function compileAlone(ajv: Ajv, schema: boolean | Record<string, unknown>): ValidateFunction {
  const before = new Set(Object.keys(ajv.refs));
  try {
    return ajv.compile(schema);
  } finally {
    for (const id of Object.keys(ajv.refs)) if (!before.has(id)) delete ajv.refs[id];
  }
}

const NO_PROBLEMS: readonly SchemaProblem[] = Object.freeze([]);

/** Ajv would look up the dialect by name and does not know every spelling. */
function withoutDialect(schema: JsonSchema): boolean | Record<string, unknown> {
  if (typeof schema === "boolean") return schema;
  const { $schema: _, ...rest } = schema;
  return rest;
}

function toProblem({ instancePath, keyword, message = "must be valid", params }: ErrorObject): SchemaProblem {
  return { pointer: instancePath, text: `${message}${describeParams(keyword, params)}` };
}

/** Details that ajv's messages leave out. */
function describeParams(keyword: string, params: Readonly<Record<string, unknown>>): string {
  if (keyword === "additionalProperties") return `: '${String(params["additionalProperty"])}'`;
  if (keyword === "enum") return `: ${JSON.stringify(params["allowedValues"])}`;
  return "";
}
