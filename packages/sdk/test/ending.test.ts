import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Query } from "@assent/sdk";
import { atDoor, drain, HELLO, type Step } from "./support/at-door.ts";

const READY: Step = { say: { type: "system", subtype: "warning", code: "ready", message: "" } };
const FOREVER: Step = { forever: true };

/** Every moment at which a host may lose interest. */
const MOMENTS: readonly (readonly [moment: string, steps: readonly Step[], until: (from: Query) => Promise<unknown>])[] = [
  ["at once", [HELLO, FOREVER], async () => undefined],
  ["before the first request is answered", [READY, FOREVER], (from) => from.next()],
  ["when it is ready", [HELLO, FOREVER], (from) => from.ready],
  ["while the model works", [HELLO, { user: true }, READY, FOREVER], (from) => from.next()],
  [
    "while a callback is asked",
    [HELLO, { user: true }, { ask: ["r1", { subtype: "can_use_tool", tool_name: "t", input: {} }] }, READY, FOREVER],
    (from) => from.next(),
  ],
  ["while the process floods", [HELLO, { user: true }, { flood: [100_000, 1000] }], (from) => from.next()],
  ["after the result", [HELLO, { user: true }, { result: {} }, FOREVER], (from) => from.next()],
];

const never = (): Promise<never> => new Promise(() => undefined);

describe("an abort", () => {
  for (const [moment, steps, until] of MOMENTS) {
    test(`${moment} throws, rejects what is asked, and ends the process`, async () => {
      const controller = new AbortController();
      await using running = atDoor(steps, { abort: controller.signal, canUseTool: never });
      running.ready.catch(() => undefined);
      await until(running);
      const open = running.status();
      controller.abort(new Error("enough"));
      await assert.rejects(open, { type: "aborted" });
      const { error } = await drain(running);
      assert.equal(error?.type, "aborted");
      assert.ok(error?.cause instanceof Error && error.cause.message === "enough");
      await running.exit;
    });
  }

  test("that came before starts nothing", () => {
    assert.throws(() => atDoor([], { abort: AbortSignal.abort() }), { type: "aborted" });
  });

  test("that comes after the end changes nothing", async () => {
    const controller = new AbortController();
    await using running = atDoor([HELLO, { user: true }, { result: {} }, { end: true }], { abort: controller.signal });
    assert.equal((await drain(running)).error, undefined);
    controller.abort();
    assert.deepEqual(await running.next(), { done: true, value: undefined });
  });
});

describe("close", () => {
  for (const [moment, steps, until] of MOMENTS) {
    test(`${moment} ends the iteration without an error, rejects what is asked, and waits for the process`, async () => {
      await using running = atDoor(steps, { canUseTool: never });
      running.ready.catch(() => undefined);
      await until(running);
      const open = assert.rejects(running.status(), { type: "closed" });
      await running.close();
      await open;
      assert.deepEqual(await drain(running), { messages: [], error: undefined });
      await running.close();
    });
  }

  test("what was said and not read is forgotten", async () => {
    await using running = atDoor([HELLO, { user: true }, READY, READY, { respond: ["status", { state: "idle" }] }, FOREVER]);
    await running.status();
    await running.close();
    assert.deepEqual(await drain(running), { messages: [], error: undefined });
  });

  test("a running callback is aborted when the query ends", async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    await using running = atDoor(
      [HELLO, { user: true }, { ask: ["r1", { subtype: "can_use_tool", tool_name: "t", input: {} }] }, FOREVER],
      {
        canUseTool: (_, { signal }) => {
          asked.resolve(signal);
          return never();
        },
      },
    );
    const signal = await asked.promise;
    assert.equal(signal.aborted, false);
    await running.close();
    assert.equal(signal.aborted, true);
  });

  test("leaving the loop closes", async () => {
    await using running = atDoor([HELLO, { user: true }, READY, READY, FOREVER]);
    for await (const message of running) if (message.type === "system") break;
    assert.notEqual((await running.exit).signal, null);
  });

  test("a process that does not listen to the first signal gets a second", async () => {
    await using running = atDoor([{ stubborn: true }, HELLO, { user: true }, READY, FOREVER], { graceMs: 100 });
    await running.next();
    await running.close();
    assert.equal((await running.exit).signal, "SIGKILL");
  });

  test("prompts that never come do not delay the end, and are stopped", async () => {
    let told = false;
    const prompt = {
      [Symbol.asyncIterator]: () => ({
        next: never,
        return: () => {
          told = true;
          return never();
        },
      }),
    };
    await using running = atDoor([HELLO, READY, FOREVER], { prompt });
    await running.ready;
    await running.next();
    await running.close();
    assert.equal(told, true);
  });

  test("`await using` closes", async () => {
    let exit: Query["exit"];
    {
      await using running = atDoor([HELLO, FOREVER]);
      await running.ready;
      exit = running.exit;
    }
    assert.notEqual((await exit).signal, null);
  });
});

describe("a slow reader", () => {
  test("slows the process down: most of what it wants to say is not said yet", async () => {
    const said = { lines: 0 };
    const onStderr = (text: string): void => {
      said.lines += text.split("\n").length - 1;
    };
    await using running = atDoor([HELLO, { user: true }, { flood: [5_000, 10_000] }, { result: {} }, { end: true }], { onStderr });
    await running.next();
    await quiet(said);
    assert.ok(said.lines < 1_000, `${said.lines} lines were said to nobody`);
    const { messages, error } = await drain(running);
    assert.deepEqual([messages.length, error], [5_000, undefined]);
  });

  test("a slow reader still gets the answer to its request, although unread lines come first", async () => {
    await using running = atDoor([
      HELLO,
      { user: true },
      { flood: [2_000, 1_000] },
      { respond: ["status", { state: "idle" }] },
      { result: {} },
      { end: true },
    ]);
    await running.next();
    assert.equal((await running.status()).state, "idle");
    assert.equal((await drain(running)).messages.length, 2_000);
  });

  test("that comes after the exit finds everything that was said", async () => {
    await using running = atDoor([HELLO, { user: true }, { flood: [100, 1_000] }, { result: {} }, { exit: 0 }]);
    await running.exit;
    assert.deepEqual([(await drain(running)).messages.length, (await running.next()).done], [101, true]);
  });

  test("many who take at once get one each, and then the end", async () => {
    await using running = atDoor([HELLO, { user: true }, READY, { result: {} }, { end: true }]);
    const taken = await Promise.all([running.next(), running.next(), running.next(), running.next()]);
    assert.deepEqual(
      taken.map(({ done }) => done),
      [false, false, true, true],
    );
  });

  /** Waits until nothing more is said: the count stands still for a while. */
  async function quiet(said: { readonly lines: number }): Promise<void> {
    for (let before = -1; before !== said.lines; ) {
      before = said.lines;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
});
