import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { canonicalJson } from "../../../src/model/json/canonical.ts";
import { copyInput } from "../../../src/model/json/copy.ts";
import { parseToolInput, parseToolValue, readToolInput } from "../../../src/model/schema/parse-input.ts";
import { InvalidInput } from "../../../src/model/schema/problems.ts";

const accepted: readonly (readonly [string, string, unknown])[] = [
  ["an empty text means no arguments", "", {}],
  ["white space means no arguments", " \n\t\r ", {}],
  ["an object is read as it is", '{"a":[1,"x",null,true,{"b":-1.5}]}', { a: [1, "x", null, true, { b: -1.5 }] }],
  ["white space around an object is fine", ' \n{"a":1} ', { a: 1 }],
  ["of duplicate keys the last one counts", '{"a":1,"a":2}', { a: 2 }],
  ["the largest exact integers pass", '{"a":9007199254740991,"b":-9007199254740991}', { a: 2 ** 53 - 1, b: -(2 ** 53) + 1 }],
  ["digits and exponents inside strings are text", '{"a":"12345678901234567890 1e400"}', { a: "12345678901234567890 1e400" }],
  ["a surrogate pair is text", '{"a":"\\ud83d\\ude00"}', { a: "\u{1f600}" }],
];

for (const [sentence, text, value] of accepted) {
  test(sentence, () => assert.deepEqual(parseToolInput(text), { ok: true, value, coercions: [] }));
}

const refused: readonly (readonly [string, string, string, string?])[] = [
  ["null", "null", "invalid_tool_params", "params must be object"],
  ["a list", "[]", "invalid_tool_params", "params must be object"],
  ["a text", '"x"', "invalid_tool_params", "params must be object"],
  ["a number", "3", "invalid_tool_params", "params must be object"],
  ["not JSON", "{a:1}", "invalid_json"],
  ["two values", "{} {}", "invalid_json"],
  ["cut off", '{"a":', "invalid_json"],
  ["NaN is not JSON", '{"n":NaN}', "invalid_json"],
  ["only once more, not twice", JSON.stringify(JSON.stringify('{"a":1}')), "invalid_tool_params", "params must be object"],
  ["a text that holds a list", '"[1]"', "invalid_tool_params", "params must be object"],
  ["a text that holds broken JSON", '"{a"', "invalid_tool_params", "params must be object"],
  ["a text that holds nothing", '""', "invalid_tool_params", "params must be object"],
  ["1e400", '{"n":1e400}', "invalid_tool_params", "params/n must be finite and, as an integer, within ±(2^53 - 1)"],
  ["an integer of twenty digits", '{"n":12345678901234567890}', "invalid_tool_params"],
  [
    "2^53, deep inside",
    '{"a":[{"b/c":9007199254740993}]}',
    "invalid_tool_params",
    "params/a/0/b~1c must be finite and, as an integer, within ±(2^53 - 1)",
  ],
  [
    "behind a key with a tilde",
    '{"a~/b":1e400}',
    "invalid_tool_params",
    "params/a~0~1b must be finite and, as an integer, within ±(2^53 - 1)",
  ],
  ["a large whole number in exponent form", '{"n":-1e300}', "invalid_tool_params"],
  ["a large whole number inside a text that holds an object", JSON.stringify('{"n":1e400}'), "invalid_tool_params"],
  ["a lone surrogate by escape", '{"a":"\\ud800"}', "invalid_tool_params", "params/a must not contain a lone surrogate"],
  ["a lone surrogate in a key", '{"\\udc00":1}', "invalid_tool_params", "params/\ufffd must not contain a lone surrogate"],
  ["513 levels", deepText(513), "input_too_large", "arguments exceed 512 levels"],
  ["100,000 levels", deepText(100_000), "input_too_large", "arguments exceed 512 levels"],
  ["513 levels behind a long text with escaped quotes", longThenDeep(513), "input_too_large", "arguments exceed 512 levels"],
  [
    "100,000 levels that never close, refused before they are parsed",
    "[".repeat(100_000),
    "input_too_large",
    "arguments exceed 512 levels",
  ],
  ["513 levels inside a text that holds an object", JSON.stringify(deepText(513)), "input_too_large", "arguments exceed 512 levels"],
  ["50 MB", `{"a":"${"x".repeat(50_000_000)}"}`, "input_too_large", "arguments exceed 16 MiB of text"],
  ["16 MiB are bytes: two-byte characters count double", `{"a":"${"é".repeat(8 * 1024 * 1024)}"}`, "input_too_large"],
  ["16 MiB are bytes: three-byte characters count three", `{"a":"${"€".repeat(6 * 1024 * 1024)}"}`, "input_too_large"],
  ["16 MiB are bytes: so do the first ones behind the surrogates", `{"a":"${"\ue000".repeat(6 * 1024 * 1024)}"}`, "input_too_large"],
];

for (const [sentence, text, type, message] of refused) {
  test(`refused: ${sentence}`, () => {
    const parsed = parseToolInput(text);
    assert.ok(!parsed.ok);
    assert.equal(parsed.type, type);
    if (message !== undefined) assert.equal(parsed.message, message);
  });
}

const largeButFine: readonly (readonly [string, string])[] = [
  ["512 levels", deepText(512)],
  ["512 levels behind a long text with escaped quotes", longThenDeep(512)],
  ["levels that are closed are none", `{"a":[${"{},[],".repeat(20_000)}1]}`],
  ["brackets inside strings are not levels", JSON.stringify({ a: '[{\\"'.repeat(50_000) })],
  ["16 MiB exactly", `{"a":"${"x".repeat(16 * 1024 * 1024 - 8)}"}`],
  ["a pair of surrogates is four bytes", `{"a":"${"\u{1f600}".repeat(4 * 1024 * 1024 - 2)}"}`],
];

for (const [sentence, text] of largeButFine) test(`passes: ${sentence}`, () => assert.equal(parseToolInput(text).ok, true));

test("the message holds the parser's reason and no half of a surrogate pair", () => {
  const parsed = parseToolInput(`{"a":${"\u{1f600}".repeat(30)}`);
  assert.ok(!parsed.ok);
  assert.match(parsed.message, /^arguments are not valid JSON \(.*JSON.*\)$/s);
  assert.ok(parsed.message.isWellFormed());
});

test("a text that holds an object is parsed once more and recorded at the root", () => {
  const text = '{"a":{"b":1}}';
  const value = { a: { b: 1 } };
  assert.deepEqual(parseToolInput(JSON.stringify(text)), {
    ok: true,
    value,
    coercions: [{ path: "", from: text, to: value, rule: "json" }],
  });
});

test("an own __proto__ key stays an own key and pollutes nothing", () => {
  const parsed = parseToolInput('{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}');
  assert.ok(parsed.ok);
  assert.deepEqual(Object.keys(parsed.value), ["__proto__", "constructor"]);
  assert.equal(Object.getPrototypeOf(parsed.value), Object.prototype);
  assert.equal("x" in {}, false);
});

const cycle: Record<string, unknown> = {};
cycle["self"] = [cycle];

const values: readonly (readonly [string, unknown, string | true])[] = [
  ["an object passes", { a: [1] }, true],
  ["an undefined member passes: it is absent", { a: undefined }, true],
  ["a text that holds an object passes", '{"a":1}', true],
  ["nothing is not an object", undefined, "invalid_tool_params"],
  ["null is not an object", null, "invalid_tool_params"],
  ["a list is not an object", [], "invalid_tool_params"],
  ["an empty text is not an object", "", "invalid_tool_params"],
  ["a function inside is not JSON", { a: [() => 1] }, "invalid_tool_params"],
  ["a BigInt inside is not JSON", { a: 1n }, "invalid_tool_params"],
  ["undefined in a list is not JSON", { a: [undefined] }, "invalid_tool_params"],
  ["NaN", { a: Number.NaN }, "invalid_tool_params"],
  ["2^53", { a: 2 ** 53 }, "invalid_tool_params"],
  ["a value that contains itself is too deep", cycle, "input_too_large"],
  ["50 MB of text", { a: "x".repeat(25_000_000), b: "x".repeat(25_000_000) }, "input_too_large"],
  ["a getter that throws", Object.defineProperty({}, "a", { enumerable: true, get: () => assert.fail("read") }), "invalid_tool_params"],
];

for (const [sentence, value, expected] of values) {
  test(`a parsed value: ${sentence}`, () => {
    const parsed = parseToolValue(value);
    assert.equal(parsed.ok || parsed.type, expected);
  });
}

test("law: every JSON text is read to a value that has a canonical form, or is refused", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const parsed = parseToolInput(text);
      if (!parsed.ok) return;
      assert.deepEqual(parsed.value, JSON.parse(text));
      canonicalJson(parsed.value);
    }),
  );
});

test("law: no text at all makes it throw", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      parseToolInput(text);
    }),
  );
});

const readings: readonly (readonly [string, string])[] = [
  ["a flat object", '{"a":1,"b":"x","c":null,"d":true}'],
  ["nested lists and objects", '{"a":[[1],{"b":["x"]}]}'],
  ["an empty text", ""],
  ["white space first", ' {"a":1}'],
  ["a list", "[1]"],
  ["a text that holds an object", '"{\\"a\\":1}"'],
  ["no JSON", '{"a":'],
  ["a pair by escapes", '{"a":"\\ud83d\\ude00"}'],
  ["half a pair by an escape", '{"a":["\\ud83d"]}'],
  ["half a pair by an escape, in a key", '{"\\ud83d":1}'],
  ["an unescaped lone surrogate", '{"a":"\ud83d"}'],
  ["an unescaped lone surrogate, in a key below", '{"a":{"\ude00":1}}'],
  ["an integer too large", '{"a":9007199254740992}'],
  ["no number at all", '{"a":[1e999]}'],
  ["the key __proto__", '{"a":{"__proto__":1}}'],
  ["the key constructor", '{"constructor":1}'],
  ["512 levels", deepText(512)],
  ["513 levels", deepText(513)],
  ["a long text", JSON.stringify({ a: "x".repeat(70_000), b: { c: [1] } })],
];

for (const [sentence, text] of readings)
  test(`an input that is frozen where it is, is the copy it would have: ${sentence}`, () => assertSameReading(text));

test("law: what is frozen where it is, is the copy it would have, or is refused as that", () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: "binary" }), fc.boolean(), (text, wrapped) => assertSameReading(wrapped ? `{"a":${text}}` : text)),
  );
});

function assertSameReading(text: string): void {
  const read = outcomeOf(() => {
    const input = readToolInput(text);
    if ("frozen" in input) return input.frozen;
    return input.ok ? copyInput(input.value) : input.type;
  });
  const copied = outcomeOf(() => {
    const parsed = parseToolInput(text);
    return parsed.ok ? copyInput(parsed.value) : parsed.type;
  });
  assert.deepEqual(read, copied);
  assertFrozen(read);
}

function outcomeOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    if (error instanceof InvalidInput) return error.type;
    throw error;
  }
}

function assertFrozen(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  assert.ok(Object.isFrozen(value));
  for (const inner of Object.values(value)) assertFrozen(inner);
}

function deepText(levels: number): string {
  return `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
}

function longThenDeep(levels: number): string {
  return `{"s":"${'\\"\\\\'.repeat(20_000)}",${deepText(levels).slice(1)}`;
}
