import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { FileOutcome } from "./edit-file.ts";
import type { EditRequest, EditWorkerStart } from "./edit-worker.ts";
import { mapInOrder, type WorkLimits } from "./in-order.ts";
import type { Target } from "./targets.ts";

export const MANY_FILES = 256;

const workerFile = (): URL => new URL(import.meta.url.endsWith(".ts") ? "./edit-worker.ts" : "./edit-worker.js", import.meta.url);
const MOST_THREADS = 4;
const FILES_AT_ONCE = 16;

/** Edits files on several threads and yields the outcomes in the order of the files. Load the engine first. */
export async function* editInThreads(targets: readonly Target[], start: EditWorkerStart, signal: AbortSignal): AsyncGenerator<FileOutcome> {
  signal.throwIfAborted();
  const first = openThread(start, signal);
  const more = Math.min(availableParallelism(), MOST_THREADS) - 1;
  const threads = [first, ...Array.from({ length: more }, () => openThread(start, signal))];
  const load: WorkLimits<unknown> = { items: threads.length * 3, most: Number.POSITIVE_INFINITY, weight: () => 0 };
  let turn = 0;
  const edit = (requests: readonly EditRequest[]): Promise<readonly FileOutcome[]> =>
    (threads[turn++ % threads.length] ?? first).edit(requests);
  try {
    for await (const outcomes of mapInOrder(splitBatches(targets), load, edit)) yield* outcomes;
  } finally {
    for (const thread of threads) thread.close();
  }
}

function* splitBatches(targets: readonly Target[]): Generator<readonly EditRequest[]> {
  for (let from = 0; from < targets.length; from += FILES_AT_ONCE)
    yield targets.slice(from, from + FILES_AT_ONCE).map(({ realPath, language }) => ({ path: realPath, language: language.name }));
}

type Thread = {
  readonly edit: (requests: readonly EditRequest[]) => Promise<readonly FileOutcome[]>;
  readonly close: () => void;
};

/** Answers arrive in the order of the requests. If the thread ends early, all open requests fail. */
function openThread(start: EditWorkerStart, signal: AbortSignal): Thread {
  const worker = new Worker(workerFile(), { workerData: start, execArgv: [], env: {}, resourceLimits: { maxOldGenerationSizeMb: 1024 } });
  const waiting: PromiseWithResolvers<readonly FileOutcome[]>[] = [];
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => undefined); // rejections reach the callers through the race below
  const stop = (): void => ended.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  worker.on("message", (outcomes: readonly FileOutcome[]) => waiting.shift()?.resolve(outcomes));
  worker.on("error", ended.reject).on("exit", () => ended.reject(new Error("an edit thread ended unexpectedly")));
  return {
    edit: (requests) => {
      const answer = Promise.withResolvers<readonly FileOutcome[]>();
      waiting.push(answer);
      worker.postMessage(requests);
      return Promise.race([answer.promise, ended.promise]);
    },
    close: () => {
      signal.removeEventListener("abort", stop);
      void worker.terminate();
    },
  };
}
