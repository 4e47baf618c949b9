import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { mapInOrder } from "../../src/ast/in-order.ts";

test("law: results come in the order of the items, and never too much is done at once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(9)), fc.integer({ min: 1, max: 4 }), fc.scheduler(), async (weights, items, scheduler) => {
      const load = { items, most: 10, weight: (index: number) => weights[index] ?? 0 };
      const running = new Set<number>();
      const act = async (index: number): Promise<number> => {
        running.add(index);
        assert.ok(running.size <= items);
        const total = [...running].reduce((sum, one) => sum + load.weight(one), 0);
        assert.ok(total <= load.most);
        await scheduler.schedule(Promise.resolve());
        return index;
      };
      const results: number[] = [];
      const heard = (async () => {
        for await (const result of mapInOrder(weights.keys(), load, act)) {
          running.delete(result);
          results.push(result);
        }
      })();
      await scheduler.waitFor(heard);
      assert.deepEqual(results, [...weights.keys()]);
    }),
  );
});

const LOAD = { items: 3, most: 10, weight: () => 1 };

test("one that is too heavy is done alone", async () => {
  const results: string[] = [];
  for await (const result of mapInOrder(["a", "b"], { ...LOAD, weight: () => 99 }, async (item) => item)) results.push(result);
  assert.deepEqual(results, ["a", "b"]);
});

test("if the iteration stops, no further item is started", async () => {
  const begun: number[] = [];
  for await (const result of mapInOrder(Array(100).keys(), LOAD, async (item) => begun.push(item))) if (result > 0) break;
  assert.ok(begun.length <= 3);
});

test("a failure is heard when its turn comes", async () => {
  const act = async (item: number): Promise<number> => {
    if (item === 2) throw new Error("second");
    return item;
  };
  const results: number[] = [];
  await assert.rejects(
    (async () => {
      for await (const result of mapInOrder([1, 2, 3], LOAD, act)) results.push(result);
    })(),
    { message: "second" },
  );
  assert.deepEqual(results, [1]);
});

test("what has ended makes room for the next", async () => {
  let running = 0;
  const most: number[] = [];
  const act = async (): Promise<void> => {
    running += 1;
    most.push(running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
  };
  for await (const _ of mapInOrder(Array(9).keys(), { items: 9, most: 10, weight: () => 5 }, act)) assert.ok(running <= 2);
  assert.equal(most.at(-1), 2);
});
