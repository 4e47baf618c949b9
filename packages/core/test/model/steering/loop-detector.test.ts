import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  createLoopDetector,
  type LoopCall,
  type LoopDetectorOptions,
  loopError,
  loopWarning,
} from "../../../src/model/steering/loop-detector.ts";

const BATCHES: Readonly<Record<string, readonly LoopCall[]>> = {
  A: [{ name: "read", arguments: '{"path":"a"}' }],
  B: [{ name: "read", arguments: '{"path":"b"}' }],
  C: [{ name: "search", arguments: "" }],
  P: [{ name: "poll", arguments: "" }],
  M: [
    { name: "poll", arguments: "" },
    { name: "read", arguments: '{"path":"a"}' },
  ],
  empty: [],
};

/** Letters are batches; `reset` calls that function. */
const table: readonly (readonly [sentence: string, options: LoopDetectorOptions, batches: string, answers: string, consecutive: number])[] =
  [
    ["the third of three warns", { threshold: 3 }, "A A A", "ok ok warn", 3],
    ["the next one stops", { threshold: 3 }, "A A A A", "ok ok warn stop", 4],
    ["another batch clears the count", { threshold: 3 }, "A A B B", "ok ok ok ok", 2],
    ["empty batches do not count", { threshold: 2 }, "empty empty empty", "ok ok ok", 0],
    ["a poll neither counts nor resets", { threshold: 3 }, "A A P A", "ok ok ok warn", 3],
    ["polls alone never trip", { threshold: 2 }, "P P P", "ok ok ok", 0],
    ["alternation warns, then stops", { threshold: 5 }, "A B A B A B A", "ok ok ok ok ok warn stop", 1],
    ["strikes outlive the count", { threshold: 3 }, "A A A B B B", "ok ok warn ok ok stop", 3],
    ["a reset clears the count", { threshold: 3 }, "A A reset A", "ok ok – ok", 1],
    ["threshold 1 warns at once", { threshold: 1 }, "A", "warn", 1],
    ["a reset clears strikes and history", { threshold: 2 }, "A A reset A A", "ok warn – ok warn", 2],
    ["the threshold is 5 by default", {}, "A A A A A", "ok ok ok ok warn", 5],
    ["a mixed batch counts whole", { threshold: 2 }, "M M", "ok warn", 2],
    ["an empty batch changes nothing in between", { threshold: 2 }, "A empty A", "ok ok warn", 2],
    ["three in turn", {}, "A B C A B C A B C", "ok ok ok ok ok ok ok ok warn", 1],
    ["two in turn of unequal length", {}, "A A B A A B A A B", "ok ok ok ok ok ok ok ok warn", 1],
    ["a poll does not disturb an alternation", {}, "A B A P B A B", "ok ok ok ok ok ok warn", 1],
    ["maxPeriod 1 switches alternation off", { maxPeriod: 1 }, "A B A B A B A B", "ok ok ok ok ok ok ok ok", 1],
    ["maxPeriod 2 does not look for three in turn", { maxPeriod: 2 }, "A B C A B C A B C", "ok ok ok ok ok ok ok ok ok", 1],
    ["cycles 2 is less patient", { cycles: 2 }, "A B A B", "ok ok ok warn", 1],
    ["the first of a cycle must come round too", { cycles: 2 }, "C B A B", "ok ok ok ok", 1],
    ["equal batches are not an alternation", { threshold: 9 }, "A A A A A A A A", "ok ok ok ok ok ok ok ok", 8],
  ];

for (const [sentence, options, batches, answers, consecutive] of table) {
  test(sentence, () => {
    const detector = createLoopDetector({ pollSafe: (name) => name === "poll", ...options });
    const given = batches.split(" ").map((step) => {
      if (step !== "reset") return detector.record(BATCHES[step] ?? assert.fail(step));
      detector.reset();
      return "–";
    });
    assert.equal(given.join(" "), answers);
    assert.equal(detector.consecutive, consecutive);
    assert.equal(detector.strikes, given.slice(given.lastIndexOf("–") + 1).filter((answer) => answer !== "ok").length);
  });
}

const pairs: readonly (readonly [sentence: string, a: readonly LoopCall[], b: readonly LoopCall[], same: boolean])[] = [
  ["the order of keys does not count", one('{"a":1,"b":2}'), one('{"b":2,"a":1}'), true],
  ["key order deep inside does not count", one('{"o":[{"a":1,"b":2}]}'), one('{"o":[{"b":2,"a":1}]}'), true],
  ["white space does not count", one('{ "a" : 1 }'), one('{"a":1}'), true],
  ["1 and 1.0 are the same", one('{"a":1}'), one('{"a":1.0}'), true],
  ["blank is {}", one("  "), one("{}"), true],
  ["a parsed value is the same as its text", one({ b: 2, a: 1 }), one('{"a":1,"b":2}'), true],
  ["unparseable text counts verbatim", one("{oops"), one("{oops"), true],
  ["different unparseable texts differ", one("{oops"), one("{oops "), false],
  ["numbers that JSON would round count verbatim", one('{"a":12345678901234567890}'), one('{"a":12345678901234567891}'), false],
  ["a value without canonical form is the same as itself", one({ a: Number.NaN }), one({ a: Number.NaN }), true],
  ["values without canonical form differ by the rest", one({ a: Number.NaN, b: 1 }), one({ a: Number.NaN, b: 2 }), false],
  ["a value that cannot be written at all does not throw", one({ a: 1n }), one({ a: 1n }), true],
  ["what is nested too deep counts verbatim", one(nested(50_000, 1)), one(nested(50_000, 2)), false],
  ["strings that differ in half a character", one('{"a":"\\ud800"}'), one('{"a":"\\ud801"}'), false],
  ["other arguments", one('{"a":1}'), one('{"a":2}'), false],
  ["another tool", [{ name: "x", arguments: "" }], [{ name: "y", arguments: "" }], false],
  ["order of calls counts", [...one("1"), ...one("2")], [...one("2"), ...one("1")], false],
  ["one call is not two", one("1"), [...one("1"), ...one("1")], false],
  [
    "a name cannot pose as arguments",
    [{ name: "x2:{}", arguments: "" }],
    [...[{ name: "x", arguments: "" }], ...[{ name: "", arguments: "" }]],
    false,
  ],
];

for (const [sentence, a, b, same] of pairs) {
  test(`signature: ${sentence}`, () => {
    const detector = createLoopDetector({ threshold: 2 });
    detector.record(a);
    assert.equal(detector.record(b), same ? "warn" : "ok");
  });
}

test("alternation with results needs equal results at equal places", () => {
  const { A = [], B = [] } = BATCHES;
  const progress = createLoopDetector();
  const stuck = createLoopDetector();
  for (let i = 0; i < 6; i++) {
    assert.equal(progress.record(i % 2 ? B : A, [{ content: `step ${i}` }]), "ok");
    assert.equal(stuck.record(i % 2 ? B : A, [{ content: `place ${i % 2}` }]), i === 5 ? "warn" : "ok");
  }
});

test("a value that is changed afterwards counts as it was", () => {
  const detector = createLoopDetector({ threshold: 2 });
  const value = { path: "a" };
  detector.record(one(value));
  value.path = "b";
  assert.equal(detector.record(one(value)), "ok");
});

test("equal batches in a row trip regardless of their results", () => {
  const detector = createLoopDetector({ threshold: 2 });
  detector.record(BATCHES["A"] ?? [], ["one"]);
  assert.equal(detector.record(BATCHES["A"] ?? [], ["two"]), "warn");
});

const wrong: readonly LoopDetectorOptions[] = [
  { threshold: 0 },
  { threshold: -1 },
  { threshold: 1.5 },
  { threshold: Number.NaN },
  { threshold: Number.POSITIVE_INFINITY },
  { cycles: 1 },
  { cycles: 2.5 },
  { maxPeriod: 0 },
  { maxPeriod: 1.5 },
];

for (const options of wrong) {
  test(`${Object.entries(options).join(" ").replace(",", " ")} is a RangeError`, () =>
    assert.throws(() => createLoopDetector(options), RangeError));
}

test("the texts of a repetition", () => {
  const detector = createLoopDetector({ threshold: 2 });
  assert.equal(detector.trip, undefined);
  detector.record(BATCHES["A"] ?? []);
  detector.record(BATCHES["A"] ?? []);
  assert.deepEqual(detector.trip, { count: 2, period: 1, tool: "read" });
  assert.equal(
    loopWarning({ count: 2, period: 1, tool: "read" }),
    "You have made the same tool call 2 times in a row without progress. Change your approach, or say what blocks you.",
  );
  assert.match(loopError({ count: 2, period: 1, tool: "read" }), /2 times.*'read'/);
});

test("the texts of an alternation", () => {
  const detector = createLoopDetector({ cycles: 2 });
  for (const step of ["A", "C", "A", "C"]) detector.record(BATCHES[step] ?? []);
  assert.deepEqual(detector.trip, { count: 4, period: 2, tool: "search" });
  assert.equal(loopWarning({ count: 4, period: 2, tool: "search" }), "You are repeating the same 2 tool calls in turn.");
  assert.match(loopError({ count: 4, period: 2, tool: "search" }), /2 tool calls in turn for 4 batches.*'search'/);
});

test("law: batches that all differ never trip, and consecutive is the length of the last run", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3 })), (steps) => {
      const distinct = createLoopDetector();
      const counted = createLoopDetector();
      steps.forEach((step, i) => {
        assert.equal(distinct.record(one({ i })), "ok");
        counted.record(one({ step }));
      });
      const run = steps.length - 1 - steps.findLastIndex((step) => step !== steps.at(-1));
      assert.equal(counted.consecutive, steps.length === 0 ? 0 : run);
    }),
  );
});

function nested(levels: number, inside: number): string {
  return `${"[".repeat(levels)}${inside}${"]".repeat(levels)}`;
}

function one(args: unknown): readonly LoopCall[] {
  return [{ name: "t", arguments: args }];
}
