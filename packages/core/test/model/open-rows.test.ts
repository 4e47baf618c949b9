import assert from "node:assert/strict";
import { test } from "node:test";
import { OpenRows } from "../../src/model/open-rows.ts";

type Step = readonly ["set", string, number] | readonly ["delete", string];

const CASES: readonly [sentence: string, steps: readonly Step[]][] = [
  ["nothing is there before the first", []],
  [
    "one comes and goes",
    [
      ["set", "a", 1],
      ["delete", "a"],
    ],
  ],
  [
    "one comes, changes and stays",
    [
      ["set", "a", 1],
      ["set", "a", 2],
    ],
  ],
  [
    "the next comes after the first has gone",
    [
      ["set", "a", 1],
      ["delete", "a"],
      ["set", "b", 2],
    ],
  ],
  [
    "several come, and change where they are",
    [
      ["set", "a", 1],
      ["set", "b", 2],
      ["set", "c", 3],
      ["set", "b", 4],
      ["set", "a", 5],
    ],
  ],
  [
    "the oldest goes first",
    [
      ["set", "a", 1],
      ["set", "b", 2],
      ["set", "c", 3],
      ["delete", "a"],
    ],
  ],
  [
    "the newest goes first",
    [
      ["set", "a", 1],
      ["set", "b", 2],
      ["delete", "b"],
    ],
  ],
  [
    "one in the middle goes, and comes again",
    [
      ["set", "a", 1],
      ["set", "b", 2],
      ["set", "c", 3],
      ["delete", "b"],
      ["set", "b", 4],
    ],
  ],
  [
    "the oldest goes, and comes again as the newest",
    [
      ["set", "a", 1],
      ["set", "b", 2],
      ["delete", "a"],
      ["set", "a", 3],
    ],
  ],
  [
    "what is not there cannot go",
    [
      ["set", "a", 1],
      ["delete", "b"],
    ],
  ],
  [
    "all go, oldest first",
    [
      ["set", "a", 1],
      ["set", "b", 2],
      ["set", "c", 3],
      ["delete", "a"],
      ["delete", "b"],
      ["delete", "c"],
    ],
  ],
];

for (const [sentence, steps] of CASES) {
  test(`open rows are what a map would be: ${sentence}`, () => {
    const rows = new OpenRows<number>();
    const map = new Map<string, number>();
    for (const step of steps) {
      if (step[0] === "delete") {
        rows.delete(step[1]);
        map.delete(step[1]);
      } else {
        rows.set(step[1], step[2]);
        map.set(step[1], step[2]);
      }
    }
    assert.deepEqual([[...rows.keys()], [...rows.values()], rows.size], [[...map.keys()], [...map.values()], map.size]);
    for (const id of ["a", "b", "c", "d"]) assert.deepEqual([rows.get(id), rows.has(id)], [map.get(id), map.has(id)]);
    assert.deepEqual(rows, new OpenRows(map), "two with the same rows are equal, however they came about");
  });
}
