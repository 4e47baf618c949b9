import assert from "node:assert/strict";
import { test } from "node:test";
import { countingIds } from "../../testing/counting-ids.ts";

test("ids count up, look like real ones and never repeat", () => {
  const ids = countingIds();
  const made = Array.from({ length: 2_000 }, () => ids.next("a_"));
  assert.equal(made[0], "a_aaaaaaaaaaaaaaaaaaaa");
  assert.equal(new Set(made).size, made.length);
  for (const id of made) assert.match(id, /^a_[a-z2-7]{20}$/);
});

test("another first number gives other ids", () => {
  const one = countingIds();
  const other = countingIds(1_000_000);
  assert.notEqual(one.next("s_"), other.next("s_"));
  assert.equal(countingIds(33).next("s_"), "s_aaaaaaaaaaaaaaaaaabb");
});
