import { Worker } from "node:worker_threads";
import type { FoundFile, SearchEngine } from "./lines.ts";
import { toJavaScript } from "./pattern.ts";
import type { SearchWorkerStart } from "./worker.ts";

/** Larger files are not searched. */
const MAX_SEARCHED: number = 64 * 1024 * 1024;

const workerFile = (): URL => new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);

/** Searches in a worker, so that a slow pattern cannot block the process. Throws `PatternError`. */
export const searchBuiltIn: SearchEngine = async function* (search, batches, signal) {
  const pattern = toJavaScript(search.pattern, search);
  const start: SearchWorkerStart = { search, pattern, maxBytes: MAX_SEARCHED };
  const worker = new Worker(workerFile(), { workerData: start, execArgv: [], env: {}, resourceLimits: { maxOldGenerationSizeMb: 1024 } });
  try {
    for await (const paths of batches) yield await askWorker(worker, paths, signal);
  } finally {
    await worker.terminate();
  }
};

function askWorker(worker: Worker, paths: readonly string[], signal: AbortSignal): Promise<readonly FoundFile[]> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<readonly FoundFile[]>();
  const stop = (): void => reject(signal.reason);
  const exit = (): void => reject(new Error("the search worker ended unexpectedly"));
  signal.addEventListener("abort", stop, { once: true });
  worker.once("message", resolve).once("error", reject).once("exit", exit);
  worker.postMessage(paths);
  return promise.finally(() => {
    signal.removeEventListener("abort", stop);
    worker.off("message", resolve).off("error", reject).off("exit", exit);
  });
}
