import { isObject } from "../json/json.ts";
import { stepKey } from "../json/pointer.ts";

/** True if subschemas and references can lead back to a place already entered. Not recursive, because schemas may be arbitrarily deep. */
export function hasCycleInSchema(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const resolve = resolverOf(schema);
  const done = new Set<SchemaNode>();
  const inside = new Set<SchemaNode>([schema]);
  const path: Visit[] = [{ schema, next: placesAfter(schema, resolve) }];
  for (let here = path.at(-1); here; here = path.at(-1)) {
    const place = here.next.pop();
    if (!place) {
      path.pop();
      inside.delete(here.schema);
      done.add(here.schema);
    } else if (inside.has(place)) return true;
    else if (!done.has(place)) {
      inside.add(place);
      path.push({ schema: place, next: placesAfter(place, resolve) });
    }
  }
  return false;
}

type SchemaNode = Readonly<Record<string, unknown>>;
type Visit = { readonly schema: SchemaNode; readonly next: SchemaNode[] };
type Resolve = (reference: string) => SchemaNode | undefined;

const ONE = [
  "items",
  "additionalItems",
  "additionalProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "contentSchema",
];
const LISTS = ["items", "allOf", "anyOf", "oneOf", "prefixItems"];
/** Their keys are names, not keywords. */
const MAPS = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
const REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef"];

function placesAfter(schema: SchemaNode, resolve: Resolve): SchemaNode[] {
  const places = subschemas(schema);
  for (const keyword of REFERENCES) {
    const reference = own(schema, keyword);
    const place = typeof reference === "string" ? resolve(reference) : undefined;
    if (place) places.push(place);
  }
  return places;
}

function subschemas(schema: SchemaNode): SchemaNode[] {
  const found: SchemaNode[] = [];
  const add = (value: unknown): void => {
    if (isObject(value)) found.push(value);
  };
  for (const keyword of ONE) add(own(schema, keyword));
  for (const keyword of LISTS) {
    const list = own(schema, keyword);
    if (Array.isArray(list)) list.forEach(add);
  }
  for (const keyword of MAPS) {
    const map = own(schema, keyword);
    if (isObject(map)) Object.values(map).forEach(add);
  }
  return found;
}

function own(schema: SchemaNode, keyword: string): unknown {
  return Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
}

function resolverOf(root: SchemaNode): Resolve {
  const rootId = idOf(root);
  const names = new Map<string, SchemaNode>();
  const known = new Map<string, SchemaNode | undefined>();
  collectNames(root, names);
  return (reference) => {
    if (!known.has(reference)) known.set(reference, names.get(reference) ?? findLocal(root, names, withoutId(reference, rootId)));
    return known.get(reference);
  };
}

/** The first of a name counts. */
function collectNames(root: SchemaNode, names: Map<string, SchemaNode>): void {
  const seen = new Set<SchemaNode>([root]);
  for (const schema of seen) {
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      const anchor = own(schema, keyword);
      if (typeof anchor === "string" && !names.has(`#${anchor}`)) names.set(`#${anchor}`, schema);
    }
    const id = idOf(schema);
    if (id !== undefined && !names.has(id)) names.set(id, schema);
    for (const inner of subschemas(schema)) seen.add(inner);
  }
}

function idOf(schema: SchemaNode): string | undefined {
  const id = own(schema, "$id");
  return typeof id === "string" && id !== "" ? id.replace(/#$/, "") : undefined;
}

function withoutId(reference: string, rootId: string | undefined): string {
  if (reference === rootId) return "#";
  return rootId !== undefined && reference.startsWith(`${rootId}#`) ? reference.slice(rootId.length) : reference;
}

function findLocal(root: SchemaNode, names: ReadonlyMap<string, SchemaNode>, fragment: string): SchemaNode | undefined {
  if (fragment === "#" || fragment === "#/") return root;
  return fragment.startsWith("#/") ? atPointer(root, fragment.slice(2)) : names.get(fragment);
}

function atPointer(root: SchemaNode, encoded: string): SchemaNode | undefined {
  const pointer = decodeStep(encoded);
  if (pointer === undefined) return undefined;
  let place: unknown = root;
  for (const step of pointer.split("/")) place = memberAt(place, stepKey(step));
  return isObject(place) ? place : undefined;
}

function memberAt(place: unknown, key: string): unknown {
  if (Array.isArray(place)) return /^(?:0|[1-9]\d*)$/.test(key) ? place[Number(key)] : undefined;
  return isObject(place) ? own(place, key) : undefined;
}

function decodeStep(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
