import { isObject, type Json } from "../json/json.ts";
import { pointerStep } from "../json/pointer.ts";
import { childShape, itemShape, rootShape, type Shape, type Shapes } from "./shape.ts";

/** A recorded change to the input that the model sent. */
export type Coercion = {
  /** A JSON pointer. */
  readonly path: string;
  readonly from: Json;
  readonly to: Json;
  readonly rule: "boolean" | "string" | "json" | "number" | "alias" | "schema";
};

/** The coerced value; without coercions it is unchanged. */
export type CoercionResult = {
  readonly value: Json;
  readonly coercions: readonly Coercion[];
  readonly visits: number;
};

type CoercionWalk = { readonly shapes: Shapes; readonly coercions: Coercion[] };
type CoercionPlace = { readonly shape: Shape | undefined; readonly path: string; readonly level: number };

const MAX_LEVELS = 512;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Converts scalars of the wrong type to what the schema asks for; the validator still decides. */
export function coerce(schema: unknown, value: Json): CoercionResult {
  const shapes: Shapes = { root: schema, known: new Map(), numbers: new Map(), visits: 0 };
  const walk: CoercionWalk = { shapes, coercions: [] };
  const coerced = coerceAt(walk, { shape: rootShape(shapes), path: "", level: 0 }, value);
  return { value: coerced, coercions: walk.coercions, visits: shapes.visits };
}

function coerceAt(walk: CoercionWalk, place: CoercionPlace, value: Json): Json {
  walk.shapes.visits++;
  const { shape, path, level } = place;
  if (!shape || level > MAX_LEVELS) return value;
  const changed = convert(shape, value);
  if (changed) walk.coercions.push({ path, from: value, to: changed.to, rule: changed.rule });
  const now = changed ? changed.to : value;
  if (typeof now !== "object" || now === null) return now;
  return isObject(now) ? coerceMembers(walk, { shape, path, level }, now) : coerceItems(walk, { shape, path, level }, now);
}

type ShapedPlace = CoercionPlace & { readonly shape: Shape };

function coerceMembers(walk: CoercionWalk, { shape, path, level }: ShapedPlace, value: Readonly<Record<string, Json>>): Json {
  let copy: Record<string, Json> | undefined;
  for (const key of Object.keys(value)) {
    const member = value[key];
    // Assigning this key would change the prototype; it is refused later.
    if (member === undefined || key === "__proto__") continue;
    const now = coerceAt(
      walk,
      { shape: childShape(walk.shapes, shape, key), path: `${path}${pointerStep(key)}`, level: level + 1 },
      member,
    );
    if (now === member) continue;
    copy ??= { ...value };
    copy[key] = now;
  }
  return copy ?? value;
}

function coerceItems(walk: CoercionWalk, { shape, path, level }: ShapedPlace, value: Json): Json {
  if (!Array.isArray(value)) return value;
  const items: readonly Json[] = value;
  let copy: Json[] | undefined;
  for (const [index, item] of items.entries()) {
    const now = coerceAt(walk, { shape: itemShape(walk.shapes, shape, index), path: `${path}/${index}`, level: level + 1 }, item);
    if (now === item) continue;
    copy ??= [...items];
    copy[index] = now;
  }
  return copy ?? value;
}

type CoercionStep = { readonly to: Json; readonly rule: "boolean" | "string" | "json" | "number" };

function convert({ types, open }: Shape, value: Json): CoercionStep | undefined {
  if (open || types.size === 0) return undefined;
  switch (typeof value) {
    case "string":
      return types.has("string") ? undefined : fromText(types, value);
    case "number":
      return acceptsNumber(types, value) ? undefined : toText(types, value);
    case "boolean":
      return types.has("boolean") ? undefined : toText(types, value);
    default:
      return undefined;
  }
}

function acceptsNumber(types: ReadonlySet<string>, value: number): boolean {
  return types.has("number") || (types.has("integer") && Number.isInteger(value));
}

function toText(types: ReadonlySet<string>, value: number | boolean): CoercionStep | undefined {
  return types.has("string") ? { to: JSON.stringify(value), rule: "string" } : undefined;
}

/** The rules match disjoint texts, so their order does not matter. */
function fromText(types: ReadonlySet<string>, text: string): CoercionStep | undefined {
  if (types.has("boolean") && /^(?:true|false)$/i.test(text)) return { to: text.length === 4, rule: "boolean" };
  if (JSON_NUMBER.test(text)) {
    const number = Number(text);
    return Math.abs(number) <= Number.MAX_SAFE_INTEGER && acceptsNumber(types, number) ? { to: number, rule: "number" } : undefined;
  }
  return types.has("object") || types.has("array") ? fromJson(types, text) : undefined;
}

function fromJson(types: ReadonlySet<string>, text: string): CoercionStep | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  let parsed: Json;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  return types.has(Array.isArray(parsed) ? "array" : "object") ? { to: parsed, rule: "json" } : undefined;
}
