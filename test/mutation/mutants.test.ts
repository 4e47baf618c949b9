import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { mutantsOf } from "./mutants.ts";
import { sampled } from "./sample.ts";

describe("the mutants of a source", () => {
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    ["a comparison is turned round", "x = a === b;", [";", "x = a !== b;"]],
    ["a bound is moved by one", "x = a < 7;", [";", "x = a <= 7;", "x = a < 8;"]],
    [
      "a ?? is put in brackets, so that it may stand among others",
      "x = a ?? b ?? c;",
      [";", "x = ((a ?? b) && (c));", "x = ((a) && (b)) ?? c;"],
    ],
    ["a condition holds always, and never", "if (a) b();", ["if (true) b();", "if (false) b();", "if (a) ;"]],
    ["a choice is made always, and never", "x = a ? b : c;", [";", "x = true ? b : c;", "x = false ? b : c;"]],
    ["a not is left out", "x = !a;", [";", "x = a;"]],
    ["a method is another", "a.some(b);", [";", "a.every(b);"]],
    ["an optional step is not optional", "a?.b;", [";", "a.b;"]],
    [
      "a block, a list and a text are empty",
      'const x = () => { return ["a"]; };',
      ["const x = () => {};", "const x = () => { return []; };", 'const x = () => { return [""]; };'],
    ],
    ["what is empty is left alone", 'const a = "", b = [], c = () => {};', []],
    ["types and imports are left alone", 'import { a } from "b"; type C = "d" | 1; let e: "f";', []],
  ];
  for (const [name, source, expected] of rows) {
    test(name, () => {
      const changed = mutantsOf(source).map(({ from, to, text }) => source.slice(0, from) + text + source.slice(to));
      assert.deepEqual(changed, expected);
    });
  }

  test("a mutant says where it is", () => {
    const [first] = mutantsOf("type A = 1;\nexport const b = true;");
    assert.deepEqual([first?.line, first?.column, first?.was, first?.at], [2, 18, "true", 29]);
  });

  test("a sign counts from what is left of it: what is right of it may never be run", () => {
    const source = "x = a || f();";
    assert.deepEqual(
      mutantsOf(source).map(({ from, at }) => [source.slice(from, from + 2), source.slice(at, at + 1)]),
      [
        ["x ", "x"],
        ["||", "a"],
      ],
    );
  });
});

describe("a sample", () => {
  const items = Array.from({ length: 1_000 }, (_, i) => i);

  test("is spread: one of every hundred", () => {
    assert.deepEqual(
      sampled(items, 10, 7).map((item) => Math.floor(item / 100)),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
  });

  test("is the same for the same seed, and another for another", () => {
    assert.deepEqual(sampled(items, 10, 7), sampled(items, 10, 7));
    assert.notDeepEqual(sampled(items, 10, 7), sampled(items, 10, 8));
  });

  test("is everything where there is no more", () => assert.deepEqual(sampled([1, 2, 3], 3, 7), [1, 2, 3]));
});

describe("the command line", () => {
  const rows: readonly (readonly [string, readonly string[], number, RegExp])[] = [
    ["--help tells how it is used", ["--help"], 0, /^npm run mutate -- \[--area model\|policy\]/u],
    ["an unknown flag is named", ["--sampel", "3"], 2, /^mutate: Unknown option '--sampel'/u],
    ["a flag without its value is named", ["--seed"], 2, /^mutate: .*--seed/u],
    ["an unknown area is named", ["--area", "host"], 2, /^mutate: There is no area 'host'/u],
    ["a number must be one", ["--jobs", "two"], 2, /^mutate: --jobs takes a whole number from 1, not 'two'/u],
    ["a pattern must find sources", ["--files", "none/*.ts"], 2, /^mutate: No source is like 'none\/\*\.ts'/u],
  ];
  for (const [name, args, status, text] of rows) {
    test(name, () => {
      const run = spawnSync(process.execPath, ["--no-warnings", fileURLToPath(new URL("run.ts", import.meta.url)), ...args], {
        encoding: "utf8",
      });
      assert.equal(run.status, status, run.stderr);
      assert.match(status === 0 ? run.stdout : run.stderr, text);
    });
  }
});
