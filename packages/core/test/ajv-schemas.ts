import { Ajv, type ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Schemas } from "../src/ports.ts";

const options = { allErrors: true, strict: false, validateFormats: false } as const;

/** A real compiler of JSON Schema, so that no test proves anything about a fake one. */
export const ajvSchemas: Schemas = {
  compile: (schema) => {
    const dialect = typeof schema === "object" ? schema["$schema"] : undefined;
    const ajv = String(dialect).includes("2020-12") ? new Ajv2020(options) : new Ajv(options);
    const validate = ajv.compile(schema);
    return (value) => (validate(value) ? [] : (validate.errors ?? []).map(problem));
  },
};

function problem({ instancePath, message }: ErrorObject): { pointer: string; text: string } {
  return { pointer: instancePath, text: message ?? "is invalid" };
}
