import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../testing/manual-clock.ts";

test("time passes only when advanced", async () => {
  const clock = manualClock(1_000);
  assert.equal(clock.now(), 1_000);
  await clock.advance(5);
  assert.equal(clock.now(), 1_005);
});

test("timers fire in order of their time, each at its own moment, ties in order of setting", async () => {
  const clock = manualClock(0);
  const fired: string[] = [];
  for (const [name, ms] of [
    ["late", 30],
    ["first", 10],
    ["second", 10],
  ] as const)
    clock.timer(ms, () => fired.push(`${name}@${clock.now()}`));
  await clock.advance(29);
  assert.deepEqual(fired, ["first@10", "second@10"]);
  assert.equal(clock.pending(), 1);
  await clock.advance(1);
  assert.deepEqual(fired.at(-1), "late@30");
  assert.equal(clock.pending(), 0);
});

test("what a timer starts gets its turn, and may set a timer that falls into the same advance", async () => {
  const clock = manualClock(0);
  const fired: number[] = [];
  const again = async (): Promise<void> => {
    await Promise.resolve();
    fired.push(clock.now());
    if (fired.length < 3) clock.timer(10, () => void again());
  };
  clock.timer(10, () => void again());
  await clock.advance(100);
  assert.deepEqual(fired, [10, 20, 30]);
  assert.equal(clock.now(), 100);
});

test("a cancelled timer does not fire, and cancelling late or twice is nothing", async () => {
  const clock = manualClock(0);
  let fired = 0;
  const cancel = clock.timer(10, () => {
    fired += 1;
  });
  cancel();
  cancel();
  await clock.advance(20);
  assert.equal(fired, 0);
});

test("a jump of the wall clock neither fires nor delays a timer", async () => {
  const clock = manualClock(0);
  let fired = 0;
  clock.timer(10, () => {
    fired += 1;
  });
  clock.jump(1_000_000);
  await clock.advance(9);
  assert.deepEqual([fired, clock.now()], [0, 1_000_009]);
  clock.jump(-2_000_000);
  await clock.advance(1);
  assert.equal(fired, 1);
});
