import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { hasCycleInSchema } from "../../../src/model/schema/cycle.ts";

const self: Record<string, unknown> = { type: "object" };
self["properties"] = { child: self };
const viaList: Record<string, unknown> = {};
viaList["anyOf"] = [{ not: viaList }];
const dataHoldsRoot: Record<string, unknown> = { type: "object" };
dataHoldsRoot["default"] = dataHoldsRoot;

const table: readonly (readonly [sentence: string, schema: unknown, answer: boolean])[] = [
  ["an empty schema", {}, false],
  ["true", true, false],
  ["one property", { type: "object", properties: { a: { type: "string" } } }, false],
  ["no schema at all", undefined, false],
  ["a property that is the root", { properties: { child: { $ref: "#" } } }, true],
  ["the root by its id", { $id: "https://example.test/a", properties: { child: { $ref: "https://example.test/a" } } }, true],
  ["another id", { $id: "https://example.test/a", properties: { child: { $ref: "https://example.test/b" } } }, false],
  ["the root as #/", { properties: { child: { $ref: "#/" } } }, true],
  ["a definition that contains itself", { $defs: { node: { properties: { next: { $ref: "#/$defs/node" } } } } }, true],
  [
    "two properties with one leaf definition",
    { $defs: { leaf: { type: "string" } }, properties: { a: { $ref: "#/$defs/leaf" }, b: { $ref: "#/$defs/leaf" } } },
    false,
  ],
  ["definitions a, b, a", { definitions: { a: { items: { $ref: "#/definitions/b" } }, b: { items: { $ref: "#/definitions/a" } } } }, true],
  ["a name with a slash", { definitions: { "a/b": { items: { $ref: "#/definitions/a~1b" } } } }, true],
  ["a name with a tilde", { definitions: { "a~1b": { items: { $ref: "#/definitions/a~01b" } } } }, true],
  ["a name that is percent-encoded", { definitions: { "a b": { items: { $ref: "#/definitions/a%20b" } } } }, true],
  ["a percent-encoding that is broken is unresolved", { definitions: { "%": { items: { $ref: "#/definitions/%" } } }, "": {} }, false],
  ["a reference inside data", { default: { $ref: "#" } }, false],
  [
    "in const, enum, examples and unknown keywords",
    { const: { $ref: "#" }, enum: [{ $ref: "#" }], examples: [{ $ref: "#" }], x: { $ref: "#" } },
    false,
  ],
  ["a property that is called $ref", { properties: { $ref: { type: "string" } } }, false],
  ["a property that is called default", { properties: { default: { $ref: "#" } } }, true],
  ["an anchor inside itself", { $defs: { n: { $anchor: "n", items: { $ref: "#n" } } } }, true],
  ["a dynamic anchor", { $defs: { n: { $dynamicAnchor: "n", items: { $dynamicRef: "#n" } } } }, true],
  ["an anchor elsewhere", { $defs: { n: { $anchor: "n" } }, items: { $ref: "#n" } }, false],
  ["a missing place", { items: { $ref: "#/$defs/none" } }, false],
  ["another document", { items: { $ref: "https://example.test/x" } }, false],
  ["an unknown anchor", { items: { $ref: "#none" } }, false],
  ["an unknown anchor", { items: { $ref: "#undefined" } }, false],
  ["another document whose name is as long as the root's $id", { $id: "abc", items: { $ref: "xyz#" } }, false],
  ["of two equal anchors the first counts", { $defs: { a: { $anchor: "n" }, b: { $anchor: "n", items: { $ref: "#n" } } } }, false],
  ["of two equal embedded $ids the first counts", { $defs: { a: { $id: "x" }, b: { $id: "x", items: { $ref: "x" } } } }, false],
  ["a schema that contains itself in memory", self, true],
  ["through a list", viaList, true],
  ["data that contains the schema in memory is data", dataHoldsRoot, false],
  ["10,000 nested items", nested(10_000), false],
  ["10,000 nested items that end at the root", nested(10_000, { $ref: "#" }), true],
  ["a 40-level DAG with two references per level", doubling(40), false],
  ["a reference that is not a text is none", { items: { $ref: { $ref: "#" } } }, false],
  ["$recursiveRef", { items: { $recursiveRef: "#" } }, true],
  ["definitions count even when unused", { $defs: { a: { $ref: "#" } } }, true],
  ["a definition that is only a reference to itself", { $defs: { a: { $ref: "#/$defs/a" } } }, true],
  ["keywords beside $ref are crawled", { $defs: { leaf: {} }, items: { $ref: "#/$defs/leaf", not: { $ref: "#" } } }, true],
  ["a reference into an unknown keyword makes it a schema", { x: { y: { items: { $ref: "#/x/y" } } }, items: { $ref: "#/x/y" } }, true],
  ["an unreferenced unknown keyword stays data", { x: { y: { items: { $ref: "#/x/y" } } } }, false],
  ["an index of a list", { anyOf: [{ type: "string" }, { items: { $ref: "#/anyOf/1" } }] }, true],
  ["an index with a leading zero is unresolved", { anyOf: [{ type: "string" }, { items: { $ref: "#/anyOf/01" } }] }, false],
  ["own properties only", { items: { $ref: "#/constructor/prototype" } }, false],
  ["the root by its $id", { $id: "https://example.test/s", items: { $ref: "https://example.test/s" } }, true],
  ["the root by its $id with an empty fragment", { $id: "https://example.test/s#", items: { $ref: "https://example.test/s#" } }, true],
  [
    "a place by the root's $id",
    { $id: "https://example.test/s", $defs: { a: { items: { $ref: "https://example.test/s#/$defs/a" } } } },
    true,
  ],
  [
    "an anchor by the root's $id",
    { $id: "https://example.test/s", $defs: { a: { $anchor: "a", items: { $ref: "https://example.test/s#a" } } } },
    true,
  ],
  ["an $id that only begins like the root's", { $id: "https://example.test/s", items: { $ref: "https://example.test/s2" } }, false],
  ["an embedded $id", { $defs: { a: { $id: "https://example.test/a", items: { $ref: "https://example.test/a" } } } }, true],
  ["items may be a list", { items: [{ $ref: "#" }] }, true],
  ["dependencies: a list of names is not a schema", { dependencies: { a: ["b"] } }, false],
  ["dependencies: a schema", { dependencies: { a: { $ref: "#" } } }, true],
  ["maps that are not maps are ignored", { properties: [{ $ref: "#" }], allOf: { $ref: "#" } }, false],
  ["a very long list does not overflow", { enum: [], anyOf: Array.from({ length: 200_000 }, () => ({})) }, false],
];

for (const [sentence, schema, answer] of table) test(sentence, () => assert.equal(hasCycleInSchema(schema), answer));

for (const keyword of [
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
]) {
  test(`the schema under ${keyword} is crawled`, () => assert.equal(hasCycleInSchema({ [keyword]: { $ref: "#" } }), true));
}
for (const keyword of ["allOf", "anyOf", "oneOf", "prefixItems"]) {
  test(`the list under ${keyword} is crawled`, () => assert.equal(hasCycleInSchema({ [keyword]: [true, { $ref: "#" }] }), true));
}
for (const keyword of ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]) {
  test(`the map under ${keyword} is crawled`, () => assert.equal(hasCycleInSchema({ [keyword]: { enum: { $ref: "#" } } }), true));
}

test("law: references to later definitions only are not a cycle, one back is", () => {
  const edges = fc.array(fc.tuple(fc.nat(19), fc.nat(19)), { maxLength: 40 });
  fc.assert(
    fc.property(edges, fc.nat(18), (drawn, from) => {
      const forward = drawn.filter(([a, b]) => a < b);
      assert.equal(hasCycleInSchema(definitions(forward)), false);
      assert.equal(hasCycleInSchema(definitions([...forward, [from, from + 1], [from + 1, from]])), true);
    }),
  );
});

function nested(levels: number, end: unknown = {}): unknown {
  let schema = end;
  for (let i = 0; i < levels; i++) schema = { items: schema };
  return schema;
}

function doubling(levels: number): unknown {
  const $defs: Record<string, unknown> = { [`d${levels}`]: { type: "string" } };
  for (let i = 0; i < levels; i++) $defs[`d${i}`] = { prefixItems: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] };
  return { $defs, $ref: "#/$defs/d0" };
}

function definitions(edges: readonly (readonly [number, number])[]): unknown {
  const targets = (of: number): unknown[] => edges.filter(([a]) => a === of).map(([, b]) => ({ $ref: `#/$defs/n${b}` }));
  return { $defs: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`n${i}`, { allOf: targets(i) }])) };
}
