import type { ProposedCall } from "@assent/core";
import { dispatchTurn, type EmbeddedCall, type Embedding, type RunStop } from "./embedding.ts";

/** One call of a loop that runs each call by itself. */
export type LoneCall = { readonly call: ProposedCall; readonly signal: AbortSignal | undefined; readonly newPrompt: boolean };

/** What came of it, and whether the loop may go on. */
export type LoneEnd = EmbeddedCall & { readonly stop?: RunStop };

type Gathered = LoneCall & { readonly resolve: (end: LoneEnd) => void; readonly reject: (error: unknown) => void };

/**
 * Makes one batch of the calls that come in one turn of the event loop, so that order and lanes hold among them.
 * Calls with different signals are batches of their own, one after the other: a cancel must reach exactly its calls.
 */
export function gatherCalls(embedding: Embedding): (lone: LoneCall) => Promise<LoneEnd> {
  let gathered: Gathered[] = [];
  const flush = (): void => {
    const calls = gathered;
    gathered = [];
    for (const batch of bySignal(calls)) void dispatchGathered(embedding, batch);
  };
  return (lone) =>
    new Promise((resolve, reject) => {
      if (gathered.length === 0) setImmediate(flush);
      gathered.push({ ...lone, resolve, reject });
    });
}

function bySignal(calls: readonly Gathered[]): readonly (readonly Gathered[])[] {
  const batches: Gathered[][] = [];
  for (const call of calls) {
    const last = batches.at(-1);
    if (last && last[0]?.signal === call.signal) last.push(call);
    else batches.push([call]);
  }
  return batches;
}

async function dispatchGathered(embedding: Embedding, batch: readonly Gathered[]): Promise<void> {
  try {
    const signal = batch[0]?.signal ?? new AbortController().signal;
    const newPrompt = batch.some((one) => one.newPrompt);
    const { calls, stop } = await dispatchTurn(
      embedding,
      batch.map(({ call }) => call),
      { signal, newPrompt },
    );
    for (const [at, { resolve, reject }] of batch.entries()) {
      const call = calls[at];
      if (call) resolve(stop ? { ...call, stop } : call);
      else reject(new Error("the dispatcher gave no result for this call"));
    }
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
