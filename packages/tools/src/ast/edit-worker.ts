import { setImmediate } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { parse } from "@ast-grep/napi";
import { type EditOptions, editFile, type FileOutcome } from "./edit-file.ts";
import { languageNamed } from "./languages.ts";
import type { PreparedOp } from "./prepared-ops.ts";
import { readSource } from "./source-files.ts";
import { reportTreeWeight } from "./syntax-tree.ts";

/** What a worker starts with: operations by language name. The main thread has registered the languages. */
export type EditWorkerStart = { readonly ops: ReadonlyMap<string, readonly PreparedOp[]> };

/** A file to edit: its real path and the name of its language. Messages stay small, because every one is copied. */
export type EditRequest = { readonly path: string; readonly language: string };

const { ops }: EditWorkerStart = workerData;

const EDITING: EditOptions = {
  parse: async ({ grammar }, text) => {
    reportTreeWeight(text);
    return parse(grammar, text);
  },
  ops: ({ name }) => ops.get(name) ?? [],
};

let turn: Promise<void> = Promise.resolve();

/** An error ends the worker, and the main thread sees it. */
parentPort?.on("message", (requests: readonly EditRequest[]) => {
  turn = turn.then(() => answer(requests));
});

async function answer(requests: readonly EditRequest[]): Promise<void> {
  const outcomes: FileOutcome[] = [];
  for (const request of requests) {
    const language = languageNamed(request.language);
    if (!language) throw new Error(`no language is named ${request.language}`);
    outcomes.push(await editFile(readSource(request.path), language, EDITING));
    await setImmediate(); // lets Node free the trees of this file
  }
  const packed = packContents(outcomes);
  parentPort?.postMessage(packed.outcomes, [packed.buffer]);
}

/** Puts all contents into one buffer: handing over thousands of small ones takes longer than copying them. */
function packContents(outcomes: readonly FileOutcome[]): { readonly outcomes: readonly FileOutcome[]; readonly buffer: ArrayBuffer } {
  const edits = outcomes.flatMap((outcome) => (outcome.state === "searched" && outcome.edit ? [outcome.edit] : []));
  const bytes = new Uint8Array(edits.reduce((sum, { before, after }) => sum + before.length + after.length, 0));
  let end = 0;
  const pack = (content: Uint8Array): Uint8Array => {
    const start = end;
    bytes.set(content, start);
    end += content.length;
    return bytes.subarray(start, end);
  };
  const packed = outcomes.map((outcome) => {
    if (outcome.state !== "searched" || !outcome.edit) return outcome;
    return { ...outcome, edit: { ...outcome.edit, before: pack(outcome.edit.before), after: pack(outcome.edit.after) } };
  });
  return { outcomes: packed, buffer: bytes.buffer };
}
