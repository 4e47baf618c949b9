import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { copyGiven, copyInput } from "../../../src/model/json/copy.ts";

const cycle: Record<string, unknown> = {};
cycle["self"] = cycle;
let shared: unknown = { leaf: 1 };
for (let i = 0; i < 40; i++) shared = [shared, shared];
let deep: unknown = 1;
for (let i = 0; i < 511; i++) deep = { deep };

const refused: readonly (readonly [string, unknown, string, string])[] = [
  ["a big integer", { a: 1n }, "params/a must be JSON", "invalid_tool_params"],
  ["a hole in a list", { a: Object.assign([1], { length: 2 }) }, "params/a/1 must be JSON", "invalid_tool_params"],
  ["a date", { a: new Date(0) }, "params/a must be JSON", "invalid_tool_params"],
  ["a map", { a: new Map() }, "params/a must be JSON", "invalid_tool_params"],
  ["a map at the root", new Map(), "params must be JSON", "invalid_tool_params"],
  ["not a number", { a: Number.NaN }, "params/a must be finite and, as an integer, within ±(2^53 - 1)", "invalid_tool_params"],
  [
    "a number that no record can hold",
    { a: 2 ** 53 },
    "params/a must be finite and, as an integer, within ±(2^53 - 1)",
    "invalid_tool_params",
  ],
  ["half a surrogate pair", { a: ["\ud800"] }, "params/a/0 must not contain a lone surrogate", "invalid_tool_params"],
  ["half a surrogate pair in a key", { a: { "\ud800": 1 } }, "params/a must not contain a lone surrogate", "invalid_tool_params"],
  ["a value that contains itself", cycle, "arguments exceed 512 levels", "input_too_large"],
  ["513 levels", { a: { a: deep } }, "arguments exceed 512 levels", "input_too_large"],
  ["a value that doubles 40 times", { shared }, "arguments exceed 65536 values that share parts", "input_too_large"],
];
for (const [name, value, message, type] of refused)
  test(`${name} is not an input`, () => assert.throws(() => copyInput(value), { message, type }));

test("very many values are an input when none is shared", () => {
  const list = Array.from({ length: 70_000 }, (_, i) => ({ i }));
  assert.equal(JSON.stringify(copyInput({ list })), JSON.stringify({ list }));
});

test("512 levels are an input", () => assert.deepEqual(copyInput({ deep }), { deep }));

test("what is undefined is absent", () => assert.deepEqual(Object.keys(copyInput({ a: undefined, b: 1 })), ["b"]));

test("an object without a prototype is an input", () => {
  assert.deepEqual(copyInput(Object.assign(Object.create(null), { a: 1 })), { a: 1 });
});

test("law: an input of JSON is copied as it is, and nothing of it is shared", () => {
  const key = fc.string().filter((k) => !["__proto__", "constructor", "prototype"].includes(k));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.maxSafeInteger(),
      fc.string(),
      fc.array(tie("value")),
      fc.dictionary(key, tie("value")),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(key, value), (given) => {
      const text = JSON.stringify(given);
      const copy = copyInput(JSON.parse(text));
      assert.equal(JSON.stringify(copy), text);
      assert.notEqual(copy, given);
    }),
  );
});

test("what a tool gave is repaired where an input is refused", () => {
  const given = JSON.parse('{"constructor":1,"__proto__":{"x":1},"t":"a\\ud800"}');
  const copy = copyGiven(given);
  assert.equal(JSON.stringify(copy), '{"constructor":1,"__proto__":{"x":1},"t":"a\ufffd"}');
  assert.equal(Reflect.getPrototypeOf(copy as object), Object.prototype);
});

for (const value of [() => 1, { a: 1n }, cycle, new Date(0)]) {
  test(`what a tool gave is not JSON: ${typeof value}`, () => assert.equal(copyGiven(value), undefined));
}
