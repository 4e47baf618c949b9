import assert from "node:assert/strict";
import { test } from "node:test";
import type { Display } from "@assent/core";
import { type Bench, bench, call, textTool, until } from "../harness.ts";

/** A bench whose tool `live` streams what the test pushes, and ends when told. */
async function streaming(
  t: Parameters<typeof bench>[0],
  canUpdateOutput = true,
): Promise<{ readonly b: Bench; readonly push: (display: Display) => void; readonly end: () => void; readonly running: Promise<unknown> }> {
  const done = Promise.withResolvers<string>();
  let push: ((display: Display) => void) | undefined;
  const live = textTool("live", "read", {
    canUpdateOutput,
    run: (_input, { update }) => {
      push = update;
      return done.promise;
    },
  });
  const b = await bench(t, { tools: [live] });
  const running = b.process([call("live", "x", "c1")]);
  await until(() => push !== undefined);
  return { b, push: (display) => push?.(display), end: () => done.resolve("whole"), running };
}

const shown = ({ events }: Bench): readonly Display[] => events.flatMap((event) => (event.type === "output" ? [event.display] : []));

test("at most 20 updates a second reach observers, and the last one always does", async (t) => {
  const { b, push, end, running } = await streaming(t);
  for (let at = 0; at < 100; at += 1) {
    push(`update ${at}`);
    await b.clock.advance(10);
  }
  assert.ok(shown(b).length <= 21, `${shown(b).length} updates in a second`);
  push("the last");
  end();
  await running;
  assert.equal(shown(b).at(-1), "the last");
  assert.equal(b.log().indexOf("response c1"), b.log().length - 2);
});

test("an update after the end is ignored", async (t) => {
  const { b, push, end, running } = await streaming(t);
  end();
  await running;
  push("late");
  await b.clock.advance(1_000);
  assert.deepEqual(shown(b), []);
});

test("a tool that did not declare updates may call update, and nobody is told", async (t) => {
  const { b, push, end, running } = await streaming(t, false);
  push("quiet");
  end();
  await running;
  assert.deepEqual(shown(b), []);
});

test("progress must grow; a smaller or equal value is dropped", async (t) => {
  const { b, push, end, running } = await streaming(t);
  for (const progress of [1, 3, 3, 2, 4, Number.NaN]) {
    push({ type: "tool_progress", progress });
    await b.clock.advance(50);
  }
  end();
  await running;
  assert.deepEqual(
    shown(b).map((display) => typeof display === "object" && display.type === "tool_progress" && display.progress),
    [1, 3, 4],
  );
});

test("updates are not in the ledger", async (t) => {
  const { b, push, end, running } = await streaming(t);
  const before = await b.ledger.head();
  push("one");
  await b.clock.advance(1_000);
  assert.equal(await b.ledger.head(), before);
  end();
  await running;
});

test("an abandoned body's updates are ignored", async (t) => {
  const { b, push, running } = await streaming(t);
  b.dispatcher.cancel("c1");
  await b.clock.advance(5_000);
  await running;
  push("from beyond");
  await b.clock.advance(1_000);
  assert.deepEqual(shown(b), []);
});
