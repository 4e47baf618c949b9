import assert from "node:assert/strict";
import { test } from "node:test";
import { array, boolean, integer, object, oneOf, optional, record, string } from "../../src/schema/fields.ts";

const schema = object(
  {
    name: string({ description: "a name", minLength: 1, maxLength: 5 }),
    count: optional(integer({ description: "how many", minimum: 1, maximum: 10 })),
    loud: optional(boolean({ description: "loud" })),
  },
  { old: optional(boolean({ description: "no longer shown" })) },
);

const ROWS: readonly (readonly [name: string, value: unknown, issues: readonly (readonly [path: string, message: string])[]])[] = [
  ["the least", { name: "a" }, []],
  ["everything", { name: "abcde", count: 10, loud: false, old: true }, []],
  [
    "a missing field is named",
    { path: "a" },
    [
      ["", "must have required property 'name'"],
      ["", "must NOT have additional property 'path'"],
    ],
  ],
  ["a wrong type", { name: 3 }, [["name", "must be string"]]],
  ["an empty text", { name: "" }, [["name", "must NOT have fewer than 1 characters"]]],
  ["a text that is too long", { name: "abcdef" }, [["name", "must NOT have more than 5 characters"]]],
  ["a fraction", { name: "a", count: 1.5 }, [["count", "must be integer"]]],
  ["a number as text", { name: "a", count: "3" }, [["count", "must be integer"]]],
  ["too small", { name: "a", count: 0 }, [["count", "must be >= 1"]]],
  ["too large", { name: "a", count: 11 }, [["count", "must be <= 10"]]],
  ["not a number", { name: "a", count: Number.NaN }, [["count", "must be integer"]]],
  ["a boolean as text", { name: "a", loud: "true" }, [["loud", "must be boolean"]]],
  ["an optional field that is null", { name: "a", loud: null }, [["loud", "must be boolean"]]],
  ["an inherited name is no field", { name: "a", toString: 1 }, [["", "must NOT have additional property 'toString'"]]],
  [
    "several faults at once",
    { name: 1, count: 0 },
    [
      ["name", "must be string"],
      ["count", "must be >= 1"],
    ],
  ],
  ["a list", [], [["", "must be object"]]],
  ["nothing", null, [["", "must be object"]]],
];
for (const [name, value, issues] of ROWS) {
  test(`${name}: ${issues.length === 0 ? "valid" : issues.map(([, message]) => message).join(", ")}`, () => {
    const answer = schema["~standard"].validate(value);
    assert.ok(!(answer instanceof Promise));
    assert.deepEqual(
      (answer.issues ?? []).map((issue) => [(issue.path ?? []).join("/"), issue.message]),
      issues,
    );
    if (!answer.issues) assert.equal(answer.value, value);
  });
}

test("a field of the prototype does not stand for a missing one", () => {
  const answer = object({ constructor: string({ description: "x" }) })["~standard"].validate({});
  assert.ok(!(answer instanceof Promise) && answer.issues?.length === 1);
});

test("the model is shown the fields in order, and no hidden ones", () => {
  assert.equal(
    JSON.stringify(schema["~standard"].jsonSchema?.input({ target: "draft-07" })),
    JSON.stringify({
      type: "object",
      properties: {
        name: { type: "string", description: "a name", minLength: 1, maxLength: 5 },
        count: { type: "integer", description: "how many", minimum: 1, maximum: 10 },
        loud: { type: "boolean", description: "loud" },
      },
      required: ["name"],
      additionalProperties: false,
    }),
  );
});

const nested = object({
  size: optional(oneOf({ description: "how large", values: ["small", "large"] })),
  people: array({
    description: "who",
    minItems: 1,
    maxItems: 2,
    items: record({
      name: string({ description: "a name", minLength: 1 }),
      age: optional(integer({ description: "years", minimum: 0, maximum: 150 })),
    }),
  }),
});

const NESTED: readonly (readonly [name: string, value: unknown, issues: readonly (readonly [path: string, message: string])[]])[] = [
  ["a list of objects", { people: [{ name: "a" }, { name: "b", age: 3 }], size: "large" }, []],
  ["another word", { people: [{ name: "a" }], size: "Large" }, [["size", "must be equal to one of the allowed values: small, large"]]],
  ["no list", { people: { name: "a" } }, [["people", "must be array"]]],
  ["too few", { people: [] }, [["people", "must NOT have fewer than 1 items"]]],
  ["too many", { people: [{ name: "a" }, { name: "a" }, { name: "a" }] }, [["people", "must NOT have more than 2 items"]]],
  [
    "faults within, each with its place",
    { people: [{ name: "" }, { age: 200, x: 1 }] },
    [
      ["people/0/name", "must NOT have fewer than 1 characters"],
      ["people/1", "must have required property 'name'"],
      ["people/1/age", "must be <= 150"],
      ["people/1", "must NOT have additional property 'x'"],
    ],
  ],
  ["an item that is no object", { people: ["a"] }, [["people/0", "must be object"]]],
];
for (const [name, value, issues] of NESTED) {
  test(`within: ${name}`, () => {
    const answer = nested["~standard"].validate(value);
    assert.ok(!(answer instanceof Promise));
    assert.deepEqual(
      (answer.issues ?? []).map((issue) => [(issue.path ?? []).join("/"), issue.message]),
      issues,
    );
  });
}

test("lists, words and objects within are shown to the model", () => {
  assert.deepEqual(nested["~standard"].jsonSchema?.input({ target: "draft-07" })["properties"], {
    size: { type: "string", description: "how large", enum: ["small", "large"] },
    people: {
      type: "array",
      description: "who",
      minItems: 1,
      maxItems: 2,
      items: {
        type: "object",
        properties: {
          name: { type: "string", description: "a name", minLength: 1 },
          age: { type: "integer", description: "years", minimum: 0, maximum: 150 },
        },
        required: ["name"],
        additionalProperties: false,
      },
    },
  });
});
