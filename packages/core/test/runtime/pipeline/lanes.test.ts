import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { classifyLane, createLanes, enterLane, leaveLane, parkLane, releaseLane } from "../../../src/runtime/pipeline/lanes.ts";

type Log = string[];

/** Enters every call of a batch written as letters: r is safe, e is unsafe. */
function enterAll(letters: string, limit = 10): { readonly log: Log; readonly lanes: ReturnType<typeof createLanes> } {
  const lanes = createLanes(letters.length, limit);
  const log: Log = [];
  for (const [index, letter] of [...letters].entries()) classifyLane(lanes, index, letter === "r");
  for (const [index] of [...letters].entries()) {
    const may = enterLane(lanes, index);
    if (may === true) log.push(`run ${index}`);
    else void may.then((runs) => log.push(`${runs ? "run" : "stuck"} ${index}`));
  }
  return { log, lanes };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const started: readonly (readonly [name: string, letters: string, leave: readonly number[], log: readonly string[]])[] = [
  ["reads before an edit run together, the edit waits", "rrer", [], ["run 0", "run 1"]],
  ["the edit runs after both reads", "rrer", [0, 1], ["run 0", "run 1", "run 2"]],
  ["a read after the edit sees it", "rrer", [0, 1, 2], ["run 0", "run 1", "run 2", "run 3"]],
  ["an edit waits for an edit", "ee", [], ["run 0"]],
  ["an ended edit lets the next one run", "ee", [0], ["run 0", "run 1"]],
  ["a read does not wait for reads that are slow", "rrr", [1], ["run 0", "run 1", "run 2"]],
];
for (const [name, letters, leave, log] of started) {
  test(name, async () => {
    const batch = enterAll(letters);
    for (const index of leave) {
      await tick();
      leaveLane(batch.lanes, index);
    }
    await tick();
    assert.deepEqual(batch.log, log);
  });
}

const released: readonly (readonly [name: string, letters: string, then: "release" | "leave", log: readonly string[]])[] = [
  ["a body that is over gives its place to the next before its end is on record", "rr", "release", ["run 0", "run 1"]],
  ["what waits for an edit's end waits until that is on record", "er", "release", ["run 0"]],
  ["an edit waits for the end of a read, not only for its body", "re", "release", ["run 0"]],
  ["an edit runs once the end of the read before it is on record", "re", "leave", ["run 0", "run 1"]],
];
for (const [name, letters, then, log] of released) {
  test(name, async () => {
    const batch = enterAll(letters, 1);
    releaseLane(batch.lanes, 0);
    if (then === "leave") leaveLane(batch.lanes, 0);
    await tick();
    assert.deepEqual(batch.log, log);
  });
}

test("a place is given away once: an end after its body frees no second one", async () => {
  const batch = enterAll("rrrr", 1);
  releaseLane(batch.lanes, 0);
  releaseLane(batch.lanes, 0);
  leaveLane(batch.lanes, 0);
  await tick();
  assert.deepEqual(batch.log, ["run 0", "run 1"]);
});

test("an unsafe call whose body was over before its end counts as one that ran", () => {
  const { lanes } = enterAll("e");
  releaseLane(lanes, 0);
  assert.equal(lanes.unsafe, 0);
  leaveLane(lanes, 0);
  assert.equal(lanes.unsafe, 1);
});

test("of 25 reads never more than 10 run at once, and all run", async () => {
  const { log, lanes } = enterAll("r".repeat(25));
  await tick();
  assert.equal(log.length, 10);
  for (let index = 0; index < 25; index += 1) {
    leaveLane(lanes, index);
    await tick();
    assert.ok(log.length - (index + 1) <= 10);
  }
  assert.deepEqual(
    log,
    Array.from({ length: 25 }, (_, index) => `run ${index}`),
  );
});

test("a read behind a parked edit is stuck, the read before it is not", async () => {
  const lanes = createLanes(3, 10);
  for (const [index, safe] of [true, false, true].entries()) classifyLane(lanes, index, safe);
  assert.equal(enterLane(lanes, 0), true);
  const behind = enterLane(lanes, 2);
  parkLane(lanes, 1);
  assert.equal(await behind, false);
});

test("a call that is not classified yet holds back what comes after it", async () => {
  const lanes = createLanes(2, 10);
  classifyLane(lanes, 1, true);
  const second = enterLane(lanes, 1);
  assert.notEqual(second, true);
  classifyLane(lanes, 0, true);
  assert.equal(await second, true);
});

test("a parked call stays parked when its own run is over", async () => {
  const lanes = createLanes(2, 10);
  classifyLane(lanes, 0, false);
  classifyLane(lanes, 1, false);
  parkLane(lanes, 0);
  leaveLane(lanes, 0);
  assert.equal(await enterLane(lanes, 1), false);
});

test("law: whatever ends in whatever order, an unsafe call never runs beside another", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }), fc.infiniteStream(fc.nat()), async (safes, picks) => {
      const lanes = createLanes(safes.length, 3);
      const running = new Set<number>();
      const begun: number[] = [];
      for (const [index, safe] of safes.entries()) classifyLane(lanes, index, safe);
      for (const [index] of safes.entries()) {
        const begin = (): void => {
          running.add(index);
          begun.push(index);
          const unsafe = [...running].filter((at) => !safes[at]);
          assert.ok(unsafe.length === 0 || running.size === 1, `${[...running]} run together`);
          assert.ok(running.size <= 3);
        };
        const may = enterLane(lanes, index);
        if (may === true) begin();
        else void may.then(begin);
      }
      for (let ended = 0; ended < safes.length; ended += 1) {
        await tick();
        const order = [...running];
        const pick = order[(picks.next().value ?? 0) % order.length] ?? -1;
        running.delete(pick);
        leaveLane(lanes, pick);
      }
      assert.equal(begun.length, safes.length);
    }),
    { numRuns: 60 },
  );
});
