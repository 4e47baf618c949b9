import { isObject } from "../json/json.ts";
import { resolve } from "./shape.ts";

type SchemaQuery = { readonly root: unknown; readonly known: Map<object, boolean> };

/** False only if a schema's root certainly accepts no object. */
export function acceptsObjects(schema: unknown): boolean {
  return accepts({ root: schema, known: new Map() }, schema);
}

function accepts(asking: SchemaQuery, schema: unknown): boolean {
  if (typeof schema === "boolean") return schema;
  if (!isObject(schema)) return true;
  const known = asking.known.get(schema);
  if (known !== undefined) return known;
  // A schema that refers to itself: only its other parts can refuse.
  asking.known.set(schema, true);
  const answer = acceptsByValue(schema) && acceptsByParts(asking, schema);
  asking.known.set(schema, answer);
  return answer;
}

function acceptsByValue(schema: Readonly<Record<string, unknown>>): boolean {
  const { type, enum: values } = schema;
  if (type !== undefined && !(Array.isArray(type) ? type : [type]).includes("object")) return false;
  if (Object.hasOwn(schema, "const") && !isObject(schema["const"])) return false;
  return !Array.isArray(values) || values.some(isObject);
}

function acceptsByParts(asking: SchemaQuery, { $ref: reference, anyOf, oneOf, allOf }: Readonly<Record<string, unknown>>): boolean {
  const part = (schema: unknown): boolean => accepts(asking, schema);
  if (typeof reference === "string" && !part(resolve(asking.root, reference))) return false;
  for (const union of [anyOf, oneOf]) if (Array.isArray(union) && !union.some(part)) return false;
  return !Array.isArray(allOf) || allOf.every(part);
}
