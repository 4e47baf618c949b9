import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  amount,
  describeValue,
  directory,
  directoryOrHome,
  listOf,
  objectWith,
  oneOf,
  textRecord,
  trueOrFalse,
  type ValueReader,
  wholeNumber,
} from "../../src/settings/setting-values.ts";

type Row = readonly [sentence: string, reader: ValueReader<unknown>, value: unknown, read: unknown];

/** What is read, or the messages of what is wrong. */
const ROWS: readonly Row[] = [
  ["the least number", wholeNumber(1, 9), 1, 1],
  ["the greatest number", wholeNumber(1, 9), 9, 9],
  ["a number below", wholeNumber(1, 9), 0, "must be a whole number from 1 to 9, not 0"],
  ["a number above", wholeNumber(1, 9), 10, "must be a whole number from 1 to 9, not 10"],
  ["a part of a number", wholeNumber(1), 1.5, "must be a whole number of at least 1, not 1.5"],
  ["a number as a text", wholeNumber(1), "1", 'must be a whole number of at least 1, not "1"'],
  ["no seconds", amount("seconds"), 0, 0],
  ["half a second", amount("seconds"), 0.5, 0.5],
  ["more seconds than there may be", amount("seconds", 5), 9, 5],
  ["fewer than none", amount("seconds"), -1, "must be a number of seconds, 0 or more, not -1"],
  ["seconds without end", amount("seconds"), Number.POSITIVE_INFINITY, "must be a number of seconds, 0 or more, not null"],
  ["yes", trueOrFalse, true, true],
  ["no", trueOrFalse, false, false],
  ["neither", trueOrFalse, null, "must be true or false, not null"],
  ["a word of the list", oneOf("a", "b"), "b", "b"],
  ["a list of numbers", listOf(wholeNumber(1)), [1, 2], [1, 2]],
  ["no list", listOf(wholeNumber(1)), {}, "must be a list, not an object"],
  [
    "a list with faults",
    listOf(wholeNumber(1)),
    [0, 1, []],
    "0 must be a whole number of at least 1, not 0; 2 must be a whole number of at least 1, not a list",
  ],
  ["an object of texts", textRecord, { a: "b" }, { a: "b" }],
  ["no object", textRecord, [], "must be an object, not a list"],
  ["both fields", objectWith("a", ["b", "c"]), { a: "1", b: "2" }, { a: "1", b: "2" }],
  ["one field", objectWith("a", ["b", "c"]), { a: "1" }, "must be an object with a and one of b, c, not an object"],
  ["the wrong fields", objectWith("a", ["b", "c"]), { b: "1", c: "2" }, "must be an object with a and one of b, c, not an object"],
  ["a strange field", objectWith("a", ["b"]), { a: "1", x: "2" }, "x is unknown; known keys are a, b"],
  ["fields that are no object", objectWith("a", ["b"]), 1, "must be an object, not 1"],
  ["a directory", directory, "/a", "/a"],
  ["a directory from here", directory, "a", 'must be an absolute path, not "a"'],
  ["a directory with a NUL", directory, "/a\0", 'must be an absolute path, not "/a\\u0000"'],
  ["a directory in the home", directoryOrHome, "~/a", "~/a"],
  ["another user's home", directoryOrHome, "~b/a", 'must be an absolute path or one that starts with ~/, not "~b/a"'],
];

describe("values of settings", () => {
  for (const [sentence, reader, value, expected] of ROWS) {
    test(sentence, () => {
      const read = reader(value);
      assert.deepEqual(
        "value" in read ? read.value : read.faults.map(({ path, message }) => [...path, message].join(" ")).join("; "),
        expected,
      );
    });
  }
});

describe("a value in words", () => {
  const SHOWN: readonly (readonly [value: unknown, words: string])[] = [
    [null, "null"],
    [undefined, "nothing"],
    [[1], "a list"],
    [{ a: 1 }, "an object"],
    ["x".repeat(58), JSON.stringify("x".repeat(58))],
    ["x".repeat(59), `"${"x".repeat(56)}…`],
  ];
  for (const [value, words] of SHOWN) test(words, () => assert.equal(describeValue(value), words));
});
