import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  amount,
  directory,
  directoryOrHome,
  fields,
  listOf,
  oneOf,
  type Reader,
  shownValue,
  texts,
  whole,
  yesNo,
} from "../../src/settings/setting-values.ts";

type Row = readonly [sentence: string, reader: Reader<unknown>, value: unknown, read: unknown];

/** What is read, or the messages of what is wrong. */
const ROWS: readonly Row[] = [
  ["the least number", whole(1, 9), 1, 1],
  ["the greatest number", whole(1, 9), 9, 9],
  ["a number below", whole(1, 9), 0, "must be a whole number from 1 to 9, not 0"],
  ["a number above", whole(1, 9), 10, "must be a whole number from 1 to 9, not 10"],
  ["a part of a number", whole(1), 1.5, "must be a whole number of at least 1, not 1.5"],
  ["a number as a text", whole(1), "1", 'must be a whole number of at least 1, not "1"'],
  ["no seconds", amount("seconds"), 0, 0],
  ["half a second", amount("seconds"), 0.5, 0.5],
  ["more seconds than there may be", amount("seconds", 5), 9, 5],
  ["fewer than none", amount("seconds"), -1, "must be a number of seconds, 0 or more, not -1"],
  ["seconds without end", amount("seconds"), Number.POSITIVE_INFINITY, "must be a number of seconds, 0 or more, not null"],
  ["yes", yesNo, true, true],
  ["no", yesNo, false, false],
  ["neither", yesNo, null, "must be true or false, not null"],
  ["a word of the list", oneOf("a", "b"), "b", "b"],
  ["a list of numbers", listOf(whole(1)), [1, 2], [1, 2]],
  ["no list", listOf(whole(1)), {}, "must be a list, not an object"],
  [
    "a list with faults",
    listOf(whole(1)),
    [0, 1, []],
    "0 must be a whole number of at least 1, not 0; 2 must be a whole number of at least 1, not a list",
  ],
  ["an object of texts", texts, { a: "b" }, { a: "b" }],
  ["no object", texts, [], "must be an object, not a list"],
  ["both fields", fields("a", ["b", "c"]), { a: "1", b: "2" }, { a: "1", b: "2" }],
  ["one field", fields("a", ["b", "c"]), { a: "1" }, "must be an object with a and one of b, c, not an object"],
  ["the wrong fields", fields("a", ["b", "c"]), { b: "1", c: "2" }, "must be an object with a and one of b, c, not an object"],
  ["a strange field", fields("a", ["b"]), { a: "1", x: "2" }, "x is not known; known are a, b"],
  ["fields that are no object", fields("a", ["b"]), 1, "must be an object, not 1"],
  ["a directory", directory, "/a", "/a"],
  ["a directory from here", directory, "a", 'must be an absolute path, not "a"'],
  ["a directory with a NUL", directory, "/a\0", 'must be an absolute path, not "/a\\u0000"'],
  ["a directory in the home", directoryOrHome, "~/a", "~/a"],
  ["somebody's home", directoryOrHome, "~b/a", 'must be an absolute path or one that starts with ~/, not "~b/a"'],
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
  for (const [value, words] of SHOWN) test(words, () => assert.equal(shownValue(value), words));
});
