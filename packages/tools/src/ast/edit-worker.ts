import { setImmediate } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { parse } from "@ast-grep/napi";
import { editFile, type FileOutcome } from "./edit-file.ts";
import type { PreparedOp } from "./ready-ops.ts";
import { readSource } from "./source-text.ts";
import type { Target } from "./targets.ts";
import { reportTreeWeight } from "./tree-weight.ts";

/** What a worker starts with: operations by language name. The main thread has registered the languages. */
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

/** An error ends the worker, and the main thread sees it. */
parentPort?.on("message", (targets: readonly Target[]) => {
  turn = turn.then(() => answer(targets));
});

async function answer(targets: readonly Target[]): Promise<void> {
  const outcomes: FileOutcome[] = [];
  const buffers: ArrayBuffer[] = [];
  for (const target of targets) {
    outcomes.push(transferBuffers(await editFile({ target, source: readSource(target.realPath) }, EDITING), buffers));
    await setImmediate(); // lets Node free the trees of this file
  }
  parentPort?.postMessage(outcomes, buffers);
}

/** Small buffers share memory with others, so copy each before transferring it. */
function transferBuffers(outcome: FileOutcome, buffers: ArrayBuffer[]): FileOutcome {
  if (outcome.state !== "searched" || !outcome.edited) return outcome;
  const [before, after] = [new Uint8Array(outcome.edited.before), new Uint8Array(outcome.edited.after)];
  buffers.push(before.buffer, after.buffer);
  return { ...outcome, edited: { ...outcome.edited, before, after } };
}
