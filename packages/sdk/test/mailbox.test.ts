import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createMailbox } from "../src/mailbox.ts";

/** Whether a promise is settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const later = Symbol("later");
  return (await Promise.race([promise.catch(() => undefined), new Promise((resolve) => setImmediate(resolve, later))])) !== later;
}

describe("a mailbox", () => {
  test("gives in order what was put", async () => {
    const box = createMailbox<number>(3);
    await box.put(1);
    await box.put(2);
    assert.deepEqual([(await box.take()).value, (await box.take()).value], [1, 2]);
  });

  test("a full mailbox blocks the writer until an item is taken", async () => {
    const box = createMailbox<number>(2);
    await box.put(1);
    const held = box.put(2);
    assert.equal(await isSettled(held), false);
    await box.take();
    assert.equal(await isSettled(held), true);
  });

  test("who waits gets the next one, and it takes no room", async () => {
    const box = createMailbox<number>(1);
    const taken = box.take();
    await box.put(1);
    assert.deepEqual(await taken, { done: false, value: 1 });
  });

  test("a lifted mailbox does not block, until the lift ends", async () => {
    const box = createMailbox<number>(1);
    const held = box.put(1);
    const lower = box.lift();
    const other = box.lift();
    await held;
    lower();
    lower(); // a second time means nothing
    await box.put(2);
    other();
    assert.equal(await isSettled(box.put(3)), false);
  });

  test("that ended gives the rest, then its error once, then the end", async () => {
    const box = createMailbox<number>(5);
    await box.put(1);
    box.end(new Error("broken"));
    box.end(new Error("not this"));
    assert.equal((await box.take()).value, 1);
    await assert.rejects(box.take(), /broken/);
    assert.equal((await box.take()).done, true);
  });

  test("an ended mailbox does not block and takes nothing", async () => {
    const box = createMailbox<number>(1);
    const held = box.put(1);
    box.end();
    await held;
    await box.put(2);
    assert.deepEqual([(await box.take()).value, (await box.take()).done], [1, true]);
  });

  test("that was dropped forgets what was put", async () => {
    const box = createMailbox<number>(5);
    await box.put(1);
    box.drop(new Error("aborted"));
    await assert.rejects(box.take(), /aborted/);
  });

  test("all who wait hear the end, one of them the error", async () => {
    const box = createMailbox<number>(1);
    const takers = [box.take(), box.take()];
    box.end(new Error("broken"));
    assert.deepEqual(
      (await Promise.allSettled(takers)).map(({ status }) => status),
      ["rejected", "fulfilled"],
    );
  });
});
