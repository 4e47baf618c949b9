import { type Clock, type JsonObject, messageOf } from "@assent/core";
import type { HookFunction, HookRun } from "@assent/core/parts";

export type FunctionCall = {
  readonly call: HookFunction;
  readonly input: JsonObject;
  readonly timeoutMs: number;
  readonly clock: Clock;
};

/** Calls a function with frozen input. On timeout its signal aborts and nothing waits for it. */
export async function runFunction({ call, input, timeoutMs, clock }: FunctionCall, signal: AbortSignal): Promise<HookRun> {
  if (signal.aborted) return { ended: "cancelled" };
  const own = new AbortController();
  const { promise: stopped, resolve: stop } = Promise.withResolvers<HookRun>();
  const cancel = (): void => stop({ ended: "cancelled" });
  signal.addEventListener("abort", cancel, { once: true });
  const late = (): void => stop({ ended: "failed", cause: `timed out after ${timeoutMs / 1_000}s` });
  const untime = clock.timer(timeoutMs, late, { keepsAlive: true });
  try {
    return await Promise.race([stopped, callFunction(call, input, own.signal)]);
  } finally {
    untime();
    signal.removeEventListener("abort", cancel);
    own.abort();
  }
}

async function callFunction(call: HookFunction, input: JsonObject, signal: AbortSignal): Promise<HookRun> {
  try {
    return { ended: "value", value: await call(input, { signal }) };
  } catch (error) {
    return { ended: "failed", cause: `it threw: ${messageOf(error)}` };
  }
}
