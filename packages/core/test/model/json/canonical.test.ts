import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { canonicalJson, EventInvalid } from "../../../src/model/json/canonical.ts";

const written: readonly (readonly [string, unknown, string])[] = [
  ["keys are sorted by UTF-16 code unit at every depth", { b: { z: 1, a: 2 }, a: [] }, '{"a":[],"b":{"a":2,"z":1}}'],
  [
    "keys sort as in the example of RFC 8785",
    { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7 },
    '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
  ],
  ["whole-number keys sort as text", { 10: 1, 9: 2, a: 3 }, '{"10":1,"9":2,"a":3}'],
  [
    "more than sixteen keys sort the same way",
    Object.fromEntries([..."tsrqponmlkjihgfedcba"].map((key) => [key, 0])),
    `{${[..."abcdefghijklmnopqrst"].map((key) => `"${key}":0`).join(",")}}`,
  ],
  ["escapes are the shortest", '\b\t\n\f\r"\\/\u0000\u001f\u007f\u2028', '"\\b\\t\\n\\f\\r\\"\\\\/\\u0000\\u001f\u007f\u2028"'],
  ["numbers have the ECMAScript form", [1.0, 4.5, 2e-3, 1e-27, 333333333.3333333], "[1,4.5,0.002,1e-27,333333333.3333333]"],
  ["-0 is 0", [-0], "[0]"],
  ["the largest exact integers pass", [2 ** 53 - 1, -(2 ** 53) + 1], "[9007199254740991,-9007199254740991]"],
  ["a property that is undefined is left out", { a: undefined, b: 1, c: undefined }, '{"b":1}'],
  ["an object without prototype is plain", Object.assign(Object.create(null), { a: null }), '{"a":null}'],
  ["an own __proto__ key is a key like any other", JSON.parse('{"__proto__":{"x":1},"a":true}'), '{"__proto__":{"x":1},"a":true}'],
  ["null inside of 1,024 levels passes", nested(1024, [null]), `${"[".repeat(1024)}null${"]".repeat(1024)}`],
  ["1,024 levels pass", nested(1024), `${"[".repeat(1024)}${"]".repeat(1024)}`],
];

for (const [sentence, value, expected] of written) test(sentence, () => assert.equal(canonicalJson(value), expected));

const cycle: { self?: unknown } = {};
cycle.self = cycle;

const refused: readonly (readonly [string, unknown])[] = [
  ["NaN", { n: Number.NaN }],
  ["an infinity", [Number.POSITIVE_INFINITY]],
  ["the other infinity", [Number.NEGATIVE_INFINITY]],
  ["a BigInt", { n: 1n }],
  ["undefined as the whole value", undefined],
  ["undefined inside an array", [1, undefined]],
  ["a sparse array", new Array(2)],
  ["a function", { f: () => 1 }],
  ["a symbol", { s: Symbol("s") }],
  ["a date", { at: new Date(0) }],
  ["a map", new Map()],
  ["a boxed number", new Number(1)],
  ["a value that contains itself", cycle],
  ["a lone surrogate in a string", ["\ud800"]],
  ["a lone surrogate in a key", { "\udc00": 1 }],
  ["depth 1,025", nested(1025)],
  ["depth 100,000, without exhausting the stack", nested(100_000)],
  ["an integer beyond 2^53 - 1", { n: 2 ** 53 }],
  ["an integer below -(2^53 - 1)", { n: -(2 ** 53) }],
  ["a large whole number in exponent form", [1e30]],
];

for (const [sentence, value] of refused) {
  test(`refused as event_invalid: ${sentence}`, () => {
    assert.throws(() => canonicalJson(value), { name: "EventInvalid", type: "event_invalid" });
  });
}

test("the refusal is an Error of its own type and names the key", () => {
  const error = new EventInvalid("NaN", "n");
  assert.ok(error instanceof Error);
  assert.match(error.message, /NaN at 'n'/);
});

test("law: reading the text back gives the value, and writing that again gives the text", () => {
  fc.assert(
    fc.property(exactJson(), (value) => {
      const text = canonicalJson(value);
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
      assert.equal(canonicalJson(JSON.parse(text)), text);
    }),
  );
});

test("law: the order in which keys were written changes nothing", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), exactJson()), (value) => {
      assert.equal(canonicalJson(Object.fromEntries(Object.entries(value).reverse())), canonicalJson(value));
    }),
  );
});

function nested(levels: number, inmost: unknown[] = []): unknown {
  let value = inmost;
  for (let i = 1; i < levels; i++) value = [value];
  return value;
}

function exactJson(): fc.Arbitrary<unknown> {
  return fc.jsonValue({ noUnicodeString: false }).filter((value) => !/\\ud[89a-f]/i.test(JSON.stringify(value)) && isExact(value));
}

function isExact(value: unknown): boolean {
  if (typeof value === "number") return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return typeof value !== "object" || value === null || Object.values(value).every(isExact);
}
