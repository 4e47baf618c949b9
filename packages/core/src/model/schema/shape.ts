import { isObject } from "../json/json.ts";
import { stepKey } from "../json/pointer.ts";

type SchemaObject = Readonly<Record<string, unknown>>;

/** Everything a schema says about one place, merged from its references and combinations. */
export type Shape = {
  readonly nodes: readonly SchemaObject[];
  readonly types: ReadonlySet<string>;
  /** Some part could not be followed, so any type may be accepted. */
  readonly open: boolean;
  readonly names: ReadonlySet<string>;
  readonly fixed: number;
  readonly children: Map<string | number | undefined, Shape | undefined>;
};

export type Shapes = {
  readonly root: unknown;
  readonly known: Map<SchemaObject | string, Shape>;
  readonly numbers: Map<SchemaObject, number>;
  visits: number;
};

const MAX_HOPS = 64;
const UNIONS = ["anyOf", "oneOf", "allOf"] as const;
/** All other properties share one shape, and so do all other items. */
const [OTHER_PROPERTIES, OTHER_ITEMS] = [undefined, -1] as const;

export function rootShape(shapes: Shapes): Shape | undefined {
  return shapeOf(shapes, [shapes.root]);
}

export function childShape(shapes: Shapes, shape: Shape, key: string): Shape | undefined {
  return shapeOnce(shapes, { shape, place: shape.names.has(key) ? key : OTHER_PROPERTIES }, ({ properties, additionalProperties }) =>
    isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties,
  );
}

export function itemShape(shapes: Shapes, shape: Shape, index: number): Shape | undefined {
  return shapeOnce(shapes, { shape, place: index < shape.fixed ? index : OTHER_ITEMS }, (node) => {
    const fixed = fixedItems(node);
    return fixed && index < fixed.length ? fixed[index] : node["items"];
  });
}

type Child = { readonly shape: Shape; readonly place: string | number | undefined };

function shapeOnce(shapes: Shapes, { shape, place }: Child, of: (node: SchemaObject) => unknown): Shape | undefined {
  const known = shape.children.get(place);
  if (known !== undefined || shape.children.has(place)) return known;
  shapes.visits += shape.nodes.length;
  const made = shapeOf(shapes, shape.nodes.map(of));
  shape.children.set(place, made);
  return made;
}

function fixedItems({ prefixItems, items }: SchemaObject): readonly unknown[] | undefined {
  if (Array.isArray(prefixItems)) return prefixItems;
  return Array.isArray(items) ? items : undefined;
}

function shapeOf(shapes: Shapes, roots: readonly unknown[]): Shape | undefined {
  const schemas = [...new Set(roots.filter(isObject))];
  const [first] = schemas;
  if (!first) return undefined;
  const key = schemas.length === 1 ? first : schemas.map((schema) => numberOf(shapes, schema)).join(" ");
  const known = shapes.known.get(key);
  if (known) return known;
  const shape = fold(shapes, schemas);
  shapes.known.set(key, shape);
  return shape;
}

function numberOf({ numbers }: Shapes, schema: SchemaObject): number {
  const number = numbers.get(schema) ?? numbers.size;
  numbers.set(schema, number);
  return number;
}

type ShapeFold = { readonly queue: QueuedSchema[]; readonly types: Set<string>; open: boolean };
type QueuedSchema = { readonly schema: SchemaObject; readonly hops: number };

function fold(shapes: Shapes, schemas: readonly SchemaObject[]): Shape {
  const folding: ShapeFold = { queue: schemas.map((schema) => ({ schema, hops: 0 })), types: new Set(), open: false };
  const nodes = new Set<SchemaObject>();
  for (const queued of folding.queue) {
    if (nodes.has(queued.schema)) continue;
    nodes.add(queued.schema);
    shapes.visits++;
    addTypes(folding.types, queued.schema["type"]);
    followReference(shapes.root, folding, queued);
    for (const union of UNIONS) addParts(folding, queued.schema[union], queued.hops);
  }
  return shapeFrom([...nodes], folding);
}

function shapeFrom(nodes: readonly SchemaObject[], { types, open }: ShapeFold): Shape {
  const names = new Set<string>();
  let fixed = 0;
  for (const node of nodes) {
    if (isObject(node["properties"])) for (const name of Object.keys(node["properties"])) names.add(name);
    fixed = Math.max(fixed, fixedItems(node)?.length ?? 0);
  }
  return { nodes, types, open, names, fixed, children: new Map() };
}

function addTypes(types: Set<string>, type: unknown): void {
  for (const each of Array.isArray(type) ? type : [type]) if (typeof each === "string") types.add(each);
}

function addParts({ queue }: ShapeFold, parts: unknown, hops: number): void {
  if (!Array.isArray(parts)) return;
  for (const schema of parts) if (isObject(schema)) queue.push({ schema, hops });
}

function followReference(root: unknown, folding: ShapeFold, { schema, hops }: QueuedSchema): void {
  const { $ref: reference, $dynamicRef: dynamic, $recursiveRef: recursive } = schema;
  if (typeof dynamic === "string" || typeof recursive === "string") folding.open = true;
  if (typeof reference !== "string") return;
  const target = hops < MAX_HOPS ? resolve(root, reference) : undefined;
  if (isObject(target)) folding.queue.push({ schema: target, hops: hops + 1 });
  else folding.open = true;
}

/** Undefined if the reference leads out of the schema. */
export function resolve(root: unknown, reference: string): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let target = root;
  for (const step of reference.slice(2).split("/")) {
    const key = decode(step);
    const inside: unknown = target;
    if ((!isObject(inside) && !Array.isArray(inside)) || key === undefined || !Object.hasOwn(inside, key)) return undefined;
    target = Reflect.get(inside, key);
  }
  return target;
}

function decode(step: string): string | undefined {
  try {
    return stepKey(decodeURIComponent(step));
  } catch {
    return undefined;
  }
}
