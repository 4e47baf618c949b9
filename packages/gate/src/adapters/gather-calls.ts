import type { ProposedCall } from "@assent/core";
import type { EmbeddedCall, RunStop, TurnRunner } from "./embedding.ts";

/** A call of a loop that runs each call by itself. */
export type SingleCall = { readonly call: ProposedCall; readonly signal: AbortSignal | undefined; readonly newPrompt: boolean };

export type SingleCallResult = EmbeddedCall & { readonly stop?: RunStop };

type QueuedCall = SingleCall & { readonly resolve: (end: SingleCallResult) => void; readonly reject: (error: unknown) => void };

/**
 * Collects the calls of one tick into a batch, so that their order and lanes are kept. Calls with different signals form separate batches,
 * so that a cancel reaches exactly its own calls.
 */
export function gatherCalls(turns: Pick<TurnRunner, "dispatch" | "refuseNested">): (lone: SingleCall) => Promise<SingleCallResult> {
  let gathered: QueuedCall[] = [];
  const flush = (): void => {
    const calls = gathered;
    gathered = [];
    for (const batch of bySignal(calls)) void dispatchGathered(turns, batch);
  };
  return (lone) =>
    new Promise((resolve, reject) => {
      turns.refuseNested?.();
      if (gathered.length === 0) setImmediate(flush);
      gathered.push({ ...lone, resolve, reject });
    });
}

function bySignal(calls: readonly QueuedCall[]): readonly (readonly QueuedCall[])[] {
  const batches: QueuedCall[][] = [];
  for (const call of calls) {
    const last = batches.at(-1);
    if (last && last[0]?.signal === call.signal) last.push(call);
    else batches.push([call]);
  }
  return batches;
}

async function dispatchGathered(turns: Pick<TurnRunner, "dispatch">, batch: readonly QueuedCall[]): Promise<void> {
  try {
    const signal = batch[0]?.signal;
    const newPrompt = batch.some((one) => one.newPrompt);
    const { calls, stop } = await turns.dispatch(
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
