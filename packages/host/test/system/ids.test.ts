import assert from "node:assert/strict";
import { test } from "node:test";
import { createRandomIds } from "../../src/system/ids.ts";

test("an id is its prefix and 20 characters of base32, and no two are equal", () => {
  const ids = createRandomIds();
  const made = Array.from({ length: 10_000 }, () => ids.next("a_"));
  for (const id of made) assert.match(id, /^a_[a-z2-7]{20}$/);
  assert.equal(new Set(made).size, made.length);
});

test("every character of the alphabet comes up at every place", () => {
  const ids = createRandomIds();
  const seen = Array.from({ length: 20 }, () => new Set<string>());
  for (let i = 0; i < 2000; i++) for (const [place, character] of [...ids.next("")].entries()) seen[place]?.add(character);
  for (const characters of seen) assert.equal(characters.size, 32);
});
