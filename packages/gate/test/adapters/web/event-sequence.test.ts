import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventSequence } from "../../../src/adapters/web/event-sequence.ts";
import { createLiveEventQueue } from "../../../src/adapters/web/live-event.ts";
import type { RecordedEvent } from "../../../src/index.ts";

test("the end comes after every event recorded before it, including those recorded during the lookup", async () => {
  const late: RecordedEvent = { pos: 1, type: "notice", text: "late" };
  const finish = Promise.withResolvers<void>();
  let looks = 0;
  const next = async (): Promise<RecordedEvent | undefined> => {
    looks += 1;
    finish.resolve();
    await new Promise((resolve) => setImmediate(resolve)); // by now the run has ended
    return looks === 2 ? late : undefined;
  };
  const record = { begin: async () => undefined, noteWritten: () => undefined, next };
  const tell = createEventSequence({ live: createLiveEventQueue(), record, gone: new AbortController().signal, run: () => finish.promise });
  assert.deepEqual([(await tell())?.type, (await tell())?.type, await tell()], ["notice", "end", undefined]);
});
