import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import type { JsonSchema } from "@assent/core";
import { ajvSchemas } from "../../src/schema/ajv-schemas.ts";

const schemas = ajvSchemas();
const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";

const ROWS: readonly (readonly [name: string, schema: JsonSchema, value: unknown, pointers: readonly string[]])[] = [
  ["a valid input", { type: "object", properties: { a: { type: "string" } } }, { a: "x" }, []],
  ["a wrong type has a pointer", { properties: { a: { type: "string" } } }, { a: 1 }, ["/a"]],
  ["a pointer is escaped", { properties: { "a/b~c": { type: "string" } } }, { "a/b~c": 1 }, ["/a~1b~0c"]],
  ["a missing property is a problem of the object", { required: ["a", "b"] }, {}, ["", ""]],
  ["all problems are told", { properties: { a: { type: "string" }, b: { minimum: 3 } } }, { a: 1, b: 1 }, ["/a", "/b"]],
  ["an inherited name is not present", { required: ["toString", "constructor"] }, {}, ["", ""]],
  ["true accepts", true, { a: 1 }, []],
  ["a reference inside the schema", { $ref: "#/definitions/x", definitions: { x: { type: "string" } } }, 1, [""]],
  ["a recursive schema", { properties: { next: { $ref: "#" } }, required: ["v"] }, { v: 1, next: { v: 1, next: {} } }, ["/next/next"]],
  ["draft-07 named, with a number sign", { $schema: "http://json-schema.org/draft-07/schema#", type: "string" }, 1, [""]],
  ["draft-07 named, without one", { $schema: "http://json-schema.org/draft-07/schema", items: [{ type: "string" }] }, [1], ["/0"]],
  ["draft-07 is the default: items as a list", { items: [{ type: "string" }] }, [1], ["/0"]],
  ["2020-12 has prefixItems", { $schema: DRAFT_2020, prefixItems: [{ type: "string" }] }, [1], ["/0"]],
  ["2020-12 named with a number sign", { $schema: `${DRAFT_2020}#`, dependentRequired: { a: ["b"] } }, { a: 1 }, [""]],
  ["an unknown keyword is ignored", { type: "string", "x-secret": { type: "nonsense" } }, "a", []],
  ["an unknown format is an annotation", { type: "string", format: "colour" }, "anything", []],
  ["a known format is checked", { properties: { d: { format: "date-time" } } }, { d: "tomorrow" }, ["/d"]],
  ["a pattern that is only valid in the older way", { pattern: "^[\\w-.]+$" }, "a b", [""]],
  ["a pattern counts characters, not halves of them", { pattern: "^.$" }, "🙂", []],
  ["a default is not filled in", { properties: { a: { default: 1 } }, required: ["a"] }, {}, [""]],
  ["a number is not read from text", { type: "integer" }, "3", [""]],
];
for (const [name, schema, value, pointers] of ROWS) {
  test(name, () => {
    const before = JSON.stringify(value);
    const validate = schemas.compile(schema);
    for (let i = 0; i < 2; i++)
      assert.deepEqual(
        validate(value).map(({ pointer }) => pointer),
        pointers,
      );
    assert.equal(JSON.stringify(value), before);
  });
}

const SLOW: readonly (readonly [name: string, schema: JsonSchema, value: unknown])[] = [
  ["a pattern", { properties: { a: { pattern: "^(a+)+$" } } }, { a: `${"a".repeat(40)}!` }],
  ["a pattern of property names", { patternProperties: { "^(a+)+$": { type: "number" } } }, { [`${"a".repeat(40)}!`]: 1 }],
  [
    "a pattern that is called by another name",
    { $ref: "#/definitions/x", definitions: { x: { pattern: "(a|a)*$" } } },
    `${"a".repeat(40)}!`,
  ],
  ["a list of many different items", { uniqueItems: true }, Array.from({ length: 100_000 }, (_, n) => ({ n }))],
];
for (const [name, schema, value] of SLOW) {
  test(`${name} that takes too long is a problem, and the next value is checked`, () => {
    const validate = schemas.compile(schema);
    assert.deepEqual(validate(value), [{ pointer: "", text: "takes longer than 1 s to compare with the schema" }]);
    assert.deepEqual(validate(Array.isArray(value) ? [{ n: 1 }] : typeof value === "string" ? "a" : {}), []);
  });
}

const REFUSED: readonly (readonly [name: string, schema: JsonSchema])[] = [
  ["an unresolvable reference", { $ref: "#/definitions/absent" }],
  ["a reference to the network", { $ref: "https://example.test/schema.json" }],
  ["an unknown type", { type: "strng" }],
  ["an unknown type deep inside", { properties: { a: { items: { type: "int" } } } }],
  ["a malformed pattern", { pattern: "(" }],
  ["an unknown dialect", { $schema: "http://json-schema.org/draft-04/schema#" }],
  ["a dialect that is no text", { $schema: 7 }],
  ["a keyword with a value of the wrong type", { required: "a" }],
  ["a keyword in the sense of an older draft", { minimum: 1, exclusiveMinimum: true }],
];
for (const [name, schema] of REFUSED) test(`${name} does not compile`, () => assert.throws(() => schemas.compile(schema), Error));

test("what is missing in ajv's words is added: which property, which values", () => {
  const texts = (schema: JsonSchema, value: unknown) =>
    schemas
      .compile(schema)(value)
      .map(({ text }) => text)
      .join();
  assert.match(texts({ additionalProperties: false }, { colour: 1 }), /'colour'/);
  assert.match(texts({ enum: ["red", "blue"] }, "green"), /\["red","blue"\]/);
});

test("equal schemas are compiled once, also as other objects with another key order", () => {
  assert.equal(schemas.compile({ type: "object", title: "t" }), schemas.compile({ title: "t", type: "object" }));
});

test("schemas with the same ids do not meet, also after one that did not compile", () => {
  const $id = "https://example.test/tool";
  const inner = { definitions: { x: { $id: "https://example.test/x", type: "number" } } };
  assert.throws(() => schemas.compile({ $id, type: "nonsense" }));
  const first = schemas.compile({ $id, type: "string", ...inner });
  const second = schemas.compile({ $id, type: "number", properties: { a: { $ref: "https://example.test/tool" } } });
  assert.deepEqual([first("a").length, second("a").length], [0, 1]);
  assert.throws(() => schemas.compile({ $ref: "https://example.test/x" }));
  assert.throws(() => schemas.compile({ $ref: "https://example.test/tool" }));
});

test("a schema that calls itself by the standard's own id is refused, and does no harm", () => {
  assert.throws(() => schemas.compile({ $id: "http://json-schema.org/draft-07/schema", type: "string" }));
  assert.equal(schemas.compile({ type: "string", minLength: 1 })("").length, 1);
});

test("ajv is not loaded before the first schema is compiled", () => {
  const source = `
    import { createRequire } from "node:module";
    import { ajvSchemas } from "../../src/schema/ajv-schemas.ts";
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes("/ajv/"));
    const schemas = ajvSchemas();
    const before = loaded();
    schemas.compile({});
    console.log(before, loaded());`;
  const node = ["--conditions=@assent/source", "--input-type=module", "-e", source];
  assert.equal(execFileSync(process.execPath, node, { cwd: import.meta.dirname, encoding: "utf8" }), "false true\n");
});
