import { setImmediate } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { parse } from "@ast-grep/napi";
import { editFile, type FileOutcome } from "./edit-file.ts";
import type { PreparedOp } from "./ready-ops.ts";
import { readSource } from "./source-text.ts";
import type { Target } from "./targets.ts";
import { reportTreeWeight } from "./tree-weight.ts";

/** What a worker is started with: operations by the names of languages, which the process has registered before. It answers every list of files with what becomes of them. */
export type EditWorkerStart = { readonly ops: ReadonlyMap<string, readonly PreparedOp[]> };

const { ops }: EditWorkerStart = workerData;

const EDITING: Parameters<typeof editFile>[1] = {
  parse: async ({ grammar }, text) => {
    reportTreeWeight(text);
    return parse(grammar, text);
  },
  ops: ({ name }) => ops.get(name) ?? [],
};

let turn: Promise<void> = Promise.resolve();

/** Lists are answered in their order. What an answer throws ends the worker, and whoever started it hears of that. */
parentPort?.on("message", (targets: readonly Target[]) => {
  turn = turn.then(() => answer(targets));
});

async function answer(targets: readonly Target[]): Promise<void> {
  const outcomes: FileOutcome[] = [];
  const buffers: ArrayBuffer[] = [];
  for (const target of targets) {
    outcomes.push(transferBuffers(await editFile({ target, source: readSource(target.realPath) }, EDITING), buffers));
    await setImmediate(); // trees that nobody needs any more are let go between turns only
  }
  parentPort?.postMessage(outcomes, buffers);
}

/** Small contents share a buffer with others, and a buffer is handed over whole: so each gets one of its own. */
function transferBuffers(outcome: FileOutcome, buffers: ArrayBuffer[]): FileOutcome {
  if (outcome.state !== "searched" || !outcome.edited) return outcome;
  const [before, after] = [new Uint8Array(outcome.edited.before), new Uint8Array(outcome.edited.after)];
  buffers.push(before.buffer, after.buffer);
  return { ...outcome, edited: { ...outcome.edited, before, after } };
}
