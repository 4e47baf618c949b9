import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { CORPUS, fuzz, inputOf, kept, minimised, tryOne } from "./driver.ts";
import { bytes, lines, structure, tokens } from "./mutate.ts";
import { randomOf } from "./random.ts";
import { holds, type Target } from "./target.ts";
import { TARGETS } from "./targets.ts";

/** The same inputs in every run; another number finds others. */
const SEED = Number(process.env["ASSENT_FUZZ_SEED"] ?? 20_261_116);

describe("the driver", () => {
  const target: Target = {
    name: "scripts",
    iterations: 1,
    seeds: [],
    mutators: [lines(), tokens(["word"]), structure(["key"])],
    check: (input) => holds("no x", !input.includes("x"), () => "there is one"),
    [Symbol.dispose]: () => undefined,
  };

  test("the same seed and number give the same input, another number another one", () => {
    const pool = [Buffer.from('{ "a": [1, 2], "b": "c" }\nsecond line\n')];
    const made = (number: number): string => inputOf(target, pool, randomOf(SEED, number)).toString("latin1");
    const all = Array.from({ length: 50 }, (_, number) => made(number));
    assert.deepEqual(
      all,
      all.map((_, number) => made(number)),
    );
    assert.ok(new Set(all).size > 40);
  });

  test("what breaks a law is found, told with its law, and made small", async () => {
    const { found } = await fuzz(
      { ...target, build: (random) => (random.chance(0.5) ? "a long text with x in it" : "another") },
      { seed: 1, goesOn: (tried) => tried < 60 },
    );
    assert.deepEqual(
      found.map(({ law }) => law),
      ["no x"],
    );
    assert.equal(String(await minimised(target, { law: "no x", input: Buffer.from("a long text with x in it") })), "x");
  });

  test("whatever else is thrown is a finding, too", async () => {
    const thrown = await tryOne({ ...target, check: () => Promise.reject(new TypeError("no")) }, Buffer.alloc(0));
    assert.equal(thrown?.law, "never throws (TypeError)");
  });

  test("mutators take any bytes", () => {
    for (let number = 0; number < 500; number += 1) {
      const random = randomOf(SEED, number);
      const input = Buffer.from(Array.from({ length: random.below(40) }, () => random.below(256)));
      for (const mutator of [bytes, ...target.mutators]) assert.ok(Buffer.isBuffer(mutator(input, random, input)));
    }
  });
});

describe(`fuzzing from seed ${SEED}`, () => {
  test("every target has a corpus, and every corpus a target", () =>
    assert.deepEqual(readdirSync(CORPUS).toSorted(), Object.keys(TARGETS).toSorted()));

  for (const [name, open] of Object.entries(TARGETS))
    test(`${name}: what is kept holds, and so do new inputs`, async (t) => {
      using target = await open();
      const inputs = kept(name);
      assert.ok(inputs.size > 0);
      for (const [file, input] of inputs) assert.equal((await tryOne(target, input))?.message, undefined, file);
      const { tried, found } = await fuzz(target, { seed: SEED, goesOn: (count) => count < target.iterations });
      t.diagnostic(`${tried} inputs from seed ${SEED}; more: npm run fuzz -- ${name} --seed ${SEED}`);
      assert.deepEqual(
        found.map(({ message, input }) => `${message}\n${JSON.stringify(input.toString("utf8"))}`),
        [],
      );
    });
});
