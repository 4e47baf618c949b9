import assert from "node:assert/strict";
import { test } from "node:test";
import { createSystemClock } from "../../src/system/clock.ts";
import { runNode } from "../processes/run-node.ts";

const clock = createSystemClock();

test("now is the time of day in milliseconds", () => {
  const before = Date.now();
  const now = clock.now();
  assert.ok(Number.isInteger(now) && now >= before && now <= Date.now());
});

test("a timer never fires before its time", async () => {
  for (const ms of [0, 0.4, 1, 1.7, 3]) {
    const started = performance.now();
    await new Promise<void>((resolve) => clock.timer(ms, resolve));
    assert.ok(performance.now() - started >= ms, `${ms} ms`);
  }
});

test("a timer beyond what setTimeout can hold does not fire at once, and a cancelled one never", async () => {
  const fired: string[] = [];
  const warned = (warning: Error): unknown => fired.push(warning.message);
  process.on("warning", warned);
  const cancelLong = clock.timer(2 ** 31 + 1000, () => fired.push("long"));
  const cancelShort = clock.timer(1, () => fired.push("cancelled"));
  cancelShort();
  cancelShort();
  await new Promise<void>((resolve) => clock.timer(5, resolve));
  cancelLong();
  process.off("warning", warned);
  assert.deepEqual(fired, []);
});

test("a timer keeps no process alive by itself", async () => {
  const source = `import { createSystemClock } from "../../src/system/clock.ts"; createSystemClock().timer(3_600_000, () => {}); console.log("set");`;
  assert.equal(await runNode(source), "set\n");
});
