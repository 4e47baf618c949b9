import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Json } from "../../../src/model/json/json.ts";
import { coerce } from "../../../src/model/schema/coerce.ts";
import { defineTool } from "../../../src/tool.ts";
import type { Invocation, JsonSchema } from "../../../src/tool-definition.ts";
import { ajvSchemas } from "../../ajv-schemas.ts";

function build(v: JsonSchema, given: Record<string, unknown>, more: Record<string, unknown> = {}): Invocation {
  const input = { type: "object", properties: { v }, ...more };
  const tool = defineTool({ name: "t", description: "x", kind: "other", input, run: () => "" }, { schemas: ajvSchemas });
  const invocation = tool.build(given);
  assert.ok(!(invocation instanceof Promise));
  return invocation;
}

type Row = readonly [
  name: string,
  schema: JsonSchema,
  value: unknown,
  expected: Json,
  coercions: readonly (readonly [path: string, rule: string])[],
];
const strings = { type: "array", items: { type: "string" } };
const tree = {
  $ref: "#/$defs/node",
  $defs: { node: { type: "object", properties: { n: { type: "integer" }, kids: { type: "array", items: { $ref: "#/$defs/node" } } } } },
};

const coerced: readonly Row[] = [
  ["a text that says true", { type: "boolean" }, "True", true, [["/v", "boolean"]]],
  ["a text that says false", { type: "boolean" }, "FALSE", false, [["/v", "boolean"]]],
  ["a text where text is accepted", { type: ["boolean", "string"] }, "true", "true", []],
  ["the same as alternatives", { anyOf: [{ type: "boolean" }, { type: "string" }] }, "true", "true", []],
  ["a number where text is asked", { type: "string" }, 42, "42", [["/v", "string"]]],
  ["a boolean where text is asked", { type: "string" }, true, "true", [["/v", "string"]]],
  ["a list written as text", strings, '["a","b"]', ["a", "b"], [["/v", "json"]]],
  [
    "its inside is coerced too",
    { type: "array", items: { type: "integer" } },
    '["1"]',
    [1],
    [
      ["/v", "json"],
      ["/v/0", "number"],
    ],
  ],
  ["an object written as text", { type: "object" }, ' {"a":1}', { a: 1 }, [["/v", "json"]]],
  ["a whole number with a fraction of zero", { type: "integer" }, "3.0", 3, [["/v", "number"]]],
  ["a number with an exponent", { type: "number" }, "-1.5e2", -150, [["/v", "number"]]],
  ["an integer with an enumeration", { type: "integer", enum: [1, 2] }, "1", 1, [["/v", "number"]]],
  [
    "inside a tuple",
    { type: "array", items: [{ type: "integer" }, { type: "boolean" }] },
    ["1", "true"],
    [1, true],
    [
      ["/v/0", "number"],
      ["/v/1", "boolean"],
    ],
  ],
  [
    "inside unnamed properties",
    { type: "object", additionalProperties: { type: "number" } },
    { "a/b": "2" },
    { "a/b": 2 },
    [["/v/a~1b", "number"]],
  ],
  [
    "through every part of a combination",
    {
      allOf: [
        { type: "object", properties: { a: { type: "integer" } } },
        { type: "object", properties: { b: { type: "boolean" } } },
      ],
    },
    { a: "1", b: "true" },
    { a: 1, b: true },
    [
      ["/v/a", "number"],
      ["/v/b", "boolean"],
    ],
  ],
];
for (const [name, schema, value, expected, records] of coerced) {
  test(name, () => {
    const { input, coercions } = build(schema, { v: value });
    assert.deepEqual(input, { v: expected });
    assert.deepEqual(
      coercions.map(({ path, rule }) => [path, rule]),
      records,
    );
  });
}

test("a record says what was sent and what was made of it", () => {
  assert.deepEqual(build({ type: "integer" }, { v: "3" }).coercions, [{ path: "/v", from: "3", to: 3, rule: "number" }]);
});

test("references are followed, also back to where they are", () => {
  const given = { n: "1", kids: [{ n: "2", kids: '[{"n":"3"}]' }] };
  const { value, coercions } = coerce(tree, given);
  assert.deepEqual(value, { n: 1, kids: [{ n: 2, kids: [{ n: 3 }] }] });
  assert.deepEqual(
    coercions.map(({ path }) => path),
    ["/n", "/kids/0/n", "/kids/0/kids", "/kids/0/kids/0/n"],
  );
  assert.deepEqual(given, { n: "1", kids: [{ n: "2", kids: '[{"n":"3"}]' }] });
});

const invalid: readonly (readonly [string, JsonSchema, unknown])[] = [
  ["yes is not a boolean", { type: "boolean" }, "yes"],
  ["1 is not a boolean", { type: "boolean" }, 1],
  ["null is not a text", { type: "string" }, null],
  ["an object is not a text", { type: "string" }, { a: 1 }],
  ["a list is not an object", { type: "object" }, "[1]"],
  ["an object is not a list", { type: "array" }, '{"a":1}'],
  ["a text that is not JSON is not a list", { type: "array" }, "[1"],
  ["a value is not wrapped in a list", strings, "a"],
  ["3.5 is not an integer", { type: "integer" }, "3.5"],
  ["an integer beyond 2^53 - 1", { type: "integer" }, "9007199254740993"],
  ["a number beyond every limit", { type: "number" }, "1e400"],
  ...[" 3", "0x10", "", "1_000", "+1", "01", ".5", "1."].map(
    (v) => [`${JSON.stringify(v)} is not a number`, { type: "number" }, v] as const,
  ),
  ["an enumeration without a type is left alone", { enum: [1, 2] }, "1"],
  ["a constant without a type is left alone", { const: true }, "true"],
];
for (const [name, schema, value] of invalid)
  test(name, () => assert.throws(() => build(schema, { v: value }), { type: "invalid_tool_params", message: /^params\/v / }));

test("a number beyond 2^53 - 1 is not even tried", () => {
  for (const v of ["9007199254740993", "-9007199254740992", "1e400"]) {
    assert.deepEqual(coerce({ properties: { v: { type: ["integer", "number"] } } }, { v }).coercions, []);
  }
});

test("unnamed properties and items are distinguished where both are accepted", () => {
  const v = { type: ["object", "array"], additionalProperties: { type: "integer" }, items: { type: "boolean" } };
  const given = { v: { a: "1" }, w: ["true"] };
  assert.deepEqual(coerce({ additionalProperties: v }, given).value, { v: { a: 1 }, w: [true] });
});

test("when another property is missing nothing is coerced, and the message is about what was sent", () => {
  assert.throws(
    () => build({ type: "integer" }, { v: "3" }, { required: ["w"] }),
    ({ message }: Error) => {
      assert.deepEqual(message.split(", ").sort(), ["params must have required property 'w'", "params/v must be integer"]);
      return true;
    },
  );
});

test("a text that brings a prototype is refused", () => {
  assert.throws(() => build({ type: "object" }, { v: '{"__proto__":{"x":1}}' }), {
    message: "params/v must not contain the key '__proto__'",
  });
});

test("what cannot be followed may accept anything, so nothing is coerced there", () => {
  for (const open of [{ $ref: "https://example.test/s" }, { $ref: "#/$defs/none" }, { $dynamicRef: "#x" }]) {
    assert.deepEqual(coerce({ properties: { v: { anyOf: [{ type: "integer" }, open] } } }, { v: "3" }).coercions, []);
  }
});

test("a reference is followed for 64 hops and no further", () => {
  const chain = (hops: number): Record<string, unknown> => {
    const $defs: Record<string, unknown> = { [`d${hops}`]: { type: "integer" } };
    for (let i = 0; i < hops; i++) $defs[`d${i}`] = { $ref: `#/$defs/d${i + 1}` };
    return { properties: { v: { $ref: "#/$defs/d0" } }, $defs };
  };
  assert.equal(coerce(chain(63), { v: "3" }).coercions.length, 1);
  assert.equal(coerce(chain(65), { v: "3" }).coercions.length, 0);
});

test("a schema that doubles 30 times is visited once per part", () => {
  const $defs: Record<string, unknown> = { d30: { type: "integer" } };
  for (let i = 0; i < 30; i++) $defs[`d${i}`] = { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] };
  const { value, visits } = coerce({ properties: { v: { $ref: "#/$defs/d0" } }, $defs }, { v: "3" });
  assert.deepEqual(value, { v: 3 });
  assert.ok(visits <= 100, `${visits} visits`);
});

test("a long list costs one visit per item, however many alternatives its items have", () => {
  const items = { anyOf: Array.from({ length: 50 }, (_, i) => ({ type: "object", properties: { [`p${i}`]: { type: "integer" } } })) };
  const list = Array.from({ length: 1000 }, () => ({ p0: "1" }));
  const { coercions, visits } = coerce({ type: "array", items }, list);
  assert.equal(coercions.length, 1000);
  assert.ok(visits <= 2_200, `${visits} visits`);
});

test("an object of many unnamed properties costs one visit per property", () => {
  const schema = { anyOf: Array.from({ length: 50 }, () => ({ type: "object", additionalProperties: { type: "integer" } })) };
  const given = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, "1"]));
  const { coercions, visits } = coerce(schema, given);
  assert.equal(coercions.length, 1000);
  assert.ok(visits <= 1_200, `${visits} visits`);
});

test("a text of very many levels neither overflows nor is taken", () => {
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  const self = { type: "array", items: { $ref: "#/properties/v" } };
  assert.throws(() => build(self, { v: deep }), { type: "input_too_large" });
});

test("law: what is coerced is not coerced again, and the given value is never changed", () => {
  const schema = { type: "object", additionalProperties: { type: ["boolean", "integer", "array"], items: { type: "string" } } };
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), fc.constantFrom("true", "3", "[1]", '["a",2]'))), (given) => {
      const before = JSON.stringify(given);
      const once = coerce(schema, JSON.parse(before));
      assert.equal(JSON.stringify(given), before);
      assert.deepEqual(coerce(schema, once.value).coercions, []);
    }),
  );
});
