import { isObject, type StandardSchema } from "@assent/core";
import { type Field, object, optional } from "../schema/fields.ts";
import { listCaptures } from "./pattern.ts";
import { readTemplate } from "./rewrite.ts";

const MAX_PATHS = 100;
const MAX_PATH_CHARS = 4096;

export const pathsField: Field<readonly string[]> = {
  schema: {
    type: "array",
    description: "Files, directories or globs such as src/**/*.ts, absolute or relative to the working directory.",
    minItems: 1,
    maxItems: MAX_PATHS,
    items: { type: "string", minLength: 1, maxLength: MAX_PATH_CHARS },
  },
  optional: false,
  fault: (value) => {
    if (!Array.isArray(value)) return "must be array";
    if (value.length > MAX_PATHS) return `must NOT have more than ${MAX_PATHS} items`;
    const wrong = value.findIndex((path) => typeof path !== "string" || path.length > MAX_PATH_CHARS);
    if (wrong === -1) return undefined;
    return typeof value[wrong] === "string"
      ? `item ${wrong} must NOT have more than ${MAX_PATH_CHARS} characters`
      : `item ${wrong} must be string`;
  },
};

const URL_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

export function pathsFault(paths: readonly string[]): string | undefined {
  if (paths.length === 0 || paths.some((path) => path.trim() === "")) return "paths must not be empty";
  for (const [index, path] of paths.entries()) {
    if (URL_SCHEME.test(path.trim())) return `paths[${index}] is a URL; give a file, directory or glob`;
    if (path.includes("\0")) return `paths[${index}] must not contain a NUL character`;
  }
  return undefined;
}

export type EditOp = { readonly pat: string; readonly out: string };

const MAX_OPS = 50;
const MAX_CHARS = 10_000;

const opsField: Field<readonly EditOp[]> = {
  schema: {
    type: "array",
    description: "Patterns and their replacements. Every operation sees the original text.",
    minItems: 1,
    maxItems: MAX_OPS,
    items: {
      type: "object",
      properties: {
        pat: {
          type: "string",
          description: "The pattern: code with variables such as $NAME and $$$NAME.",
          minLength: 1,
          maxLength: MAX_CHARS,
        },
        out: {
          type: "string",
          description: "The replacement, with variables of the pattern. Empty deletes the match.",
          maxLength: MAX_CHARS,
        },
      },
      required: ["pat", "out"],
      additionalProperties: false,
    },
  },
  optional: false,
  fault: (value) => {
    if (!Array.isArray(value)) return "must be array";
    if (value.length > MAX_OPS) return `must NOT have more than ${MAX_OPS} items`;
    return value.map(opFault).find((fault) => fault !== undefined);
  },
};

function opFault(op: unknown, index: number): string | undefined {
  if (!isObject(op)) return `item ${index} must be object`;
  for (const name of ["pat", "out"]) {
    const text = op[name];
    if (text === undefined) return `item ${index} must have required property '${name}'`;
    if (typeof text !== "string") return `item ${index}, ${name} must be string`;
    if ((name === "pat" ? text.trim() : text).length > MAX_CHARS)
      return `item ${index}, ${name} must NOT have more than ${MAX_CHARS} characters`;
  }
  const unknown = Object.keys(op).find((name) => name !== "pat" && name !== "out");
  return unknown === undefined ? undefined : `item ${index} must NOT have additional property '${unknown}'`;
}

/** The input of `ast_edit`. Both fields are optional so that `editFault` reports a missing list like an empty one. */
export type AstEditInput = { readonly ops?: readonly EditOp[]; readonly paths?: readonly string[] };

export const astEditInput: StandardSchema<unknown, AstEditInput> = object({ ops: optional(opsField), paths: optional(pathsField) });

export const astEditSchema: Readonly<Record<string, unknown>> = {
  type: "object",
  properties: { ops: opsField.schema, paths: pathsField.schema },
  required: ["ops", "paths"],
  additionalProperties: false,
};

/** Returns the first problem with an input that its types do not cover. */
export function editFault({ ops = [], paths = [] }: AstEditInput): string | undefined {
  if (ops.length === 0) return "ops must not be empty";
  return opsFault(ops) ?? pathsFault(paths);
}

function opsFault(ops: readonly EditOp[]): string | undefined {
  const seen = new Map<string, number>();
  for (const [index, { pat, out }] of ops.entries()) {
    const pattern = pat.trim();
    if (pattern === "") return `ops[${index}].pat must not be empty`;
    const first = seen.get(pattern);
    if (first !== undefined) return `ops[${index}].pat repeats ops[${first}].pat`;
    seen.set(pattern, index);
    const captured = listCaptures(pattern);
    const unbound = readTemplate(out).find((piece) => typeof piece !== "string" && !captured.has(piece.variable));
    if (typeof unbound === "object") return `ops[${index}].out uses ${unbound.written}, which pat does not capture`;
  }
  return undefined;
}
