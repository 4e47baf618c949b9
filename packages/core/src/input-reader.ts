import { frozenJson } from "./check-definition.ts";
import { ToolDefinitionError } from "./errors.ts";
import { isObject, type JsonObject } from "./model/json/json.ts";
import { jsonPointer } from "./model/json/pointer.ts";
import { messageOf } from "./model/result/thrown.ts";
import { acceptsObjects } from "./model/schema/accepts-objects.ts";
import type { SchemaProblem, Schemas, Validator } from "./ports.ts";
import { isStandardSchema, type StandardResult, type StandardSchema } from "./standard-schema.ts";
import type { JsonSchema, Maybe, ToolDefinition } from "./tool-definition.ts";

/** What a schema makes of an input: a value, or its problems. */
export type CheckedInput =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** Reads inputs by the kind of schema a tool declares. */
export type InputReader = {
  /** The schema shown to the model, derived on first use. */
  readonly shown: () => JsonSchema;
  /** The schema whose types coercion aims at. */
  readonly typed: () => JsonSchema;
  readonly validate: (input: JsonObject) => Maybe<CheckedInput>;
  /** Prepares `validate`. Throws `schema_does_not_compile`, so that no tool has unvalidated input. */
  readonly compile: (schemas: Schemas | undefined) => void;
};

/** Creates the reader for a tool's schema. */
export function readerOf(definition: ToolDefinition): InputReader {
  const { input, inputSchema } = definition;
  return isStandardSchema(input) ? standardReader(definition, input) : rawReader(definition.name, input, inputSchema);
}

function rawReader(name: string, input: JsonSchema, inputSchema: JsonSchema | undefined): InputReader {
  let validator: Validator | undefined;
  return {
    shown: () => inputSchema ?? input,
    typed: () => input,
    validate: (value) => {
      if (!validator) throw notCompiled(name, "nothing compiled it: register the tool, or define it, with schemas");
      const problems = validator(value);
      return problems.length === 0 ? { ok: true, value } : { ok: false, problems };
    },
    compile: (schemas) => {
      if (validator) return;
      if (!schemas) throw notCompiled(name, NO_SCHEMAS);
      try {
        validator = schemas.compile(input);
      } catch (error) {
        throw notCompiled(name, messageOf(error), error);
      }
    },
  };
}

const NO_SCHEMAS =
  "a raw JSON Schema needs schemas to compile it, and there are none here: createRegistry({ schemas: ajvSchemas() }) has those of @assent/host";

function notCompiled(name: string, why: string, cause?: unknown): ToolDefinitionError {
  return new ToolDefinitionError("schema_does_not_compile", `Tool '${name}': its input schema does not compile: ${why}`, { cause });
}

function standardReader({ name, inputSchema }: ToolDefinition, schema: StandardSchema): InputReader {
  let derived = inputSchema;
  const shown = (): JsonSchema => {
    derived ??= derive(name, schema);
    return derived;
  };
  let typed: JsonSchema | undefined;
  return {
    shown,
    typed: () => {
      typed ??= schema["~standard"].jsonSchema ? derive(name, schema) : shown();
      return typed;
    },
    validate: (value) => {
      const answer = schema["~standard"].validate(value);
      return "then" in answer ? Promise.resolve(answer).then(readAnswer) : readAnswer(answer);
    },
    compile: () => undefined,
  };
}

function readAnswer(answer: StandardResult<unknown>): CheckedInput {
  if (!answer.issues) return { ok: true, value: answer.value };
  const problems = answer.issues.map(({ message, path }) => ({
    pointer: jsonPointer((path ?? []).map((step) => (typeof step === "object" ? step.key : step))),
    text: message,
  }));
  return { ok: false, problems: problems.length === 0 ? [{ pointer: "", text: "must be valid" }] : problems };
}

function derive(name: string, schema: StandardSchema): JsonSchema {
  let derived: unknown;
  try {
    derived = frozenJson(describe(schema));
  } catch (error) {
    const why = `its schema cannot be described as JSON Schema: ${messageOf(error)}. Give inputSchema next to input.`;
    throw new ToolDefinitionError("bad_schema", `Tool '${name}': ${why}`, { cause: error });
  }
  if (isObject(derived) && acceptsObjects(derived)) return derived;
  throw new ToolDefinitionError("bad_schema", `Tool '${name}': input must accept objects at its root.`);
}

function describe(schema: StandardSchema): unknown {
  const { jsonSchema } = schema["~standard"];
  if (jsonSchema) return jsonSchema.input({ target: "draft-07" });
  const convert: unknown = Reflect.get(schema, "toJSONSchema");
  if (typeof convert !== "function") throw new TypeError("it offers no conversion");
  return convert.call(schema, { target: "draft-7", io: "input" });
}
