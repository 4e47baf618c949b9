import { isObject } from "../../model/json/json.ts";
import { type NormalizedResult, normalizeResult } from "../../model/result/normalize.ts";
import { contentText } from "../../model/text/content-text.ts";
import type { Clock } from "../../ports.ts";
import type { Maybe } from "../../tool-definition.ts";

/** How a callback ended. `unsettled`: it did not commit, and did not end in time after a cancel. */
export type CallbackEnd<T> =
  | { readonly state: "returned"; readonly value: T }
  | { readonly state: "threw"; readonly error: unknown; readonly committed: boolean }
  | { readonly state: "unsettled" };

/** What a callback is run with. */
export type CallbackPorts = { readonly clock: Clock; readonly signal: AbortSignal; readonly late: (how: string) => void };

const GRACE_MS = 5_000;

/**
 * Runs user code that has effects. After its signal aborts, it has the grace time to end, unless it has called `commit`: then this waits for it.
 * An end after the grace time is only reported to `late`.
 */
export function runCallback<T>({ clock, signal, late }: CallbackPorts, call: (commit: () => void) => Maybe<T>): Promise<CallbackEnd<T>> {
  const { promise, resolve } = Promise.withResolvers<CallbackEnd<T>>();
  let committed = false;
  let over = false;
  let stopWaiting = (): void => undefined;
  const settle = (end: CallbackEnd<T>): void => {
    stopWaiting();
    signal.removeEventListener("abort", abandon);
    if (over) late(end.state === "threw" ? "it failed" : "it succeeded");
    over = true;
    resolve(end);
  };
  const giveUp = (): void => {
    if (committed || over) return;
    over = true;
    resolve({ state: "unsettled" });
  };
  const abandon = (): void => {
    stopWaiting = clock.timer(GRACE_MS, giveUp, { keepsAlive: true });
  };
  const commit = (): void => {
    committed = true;
  };
  if (signal.aborted) abandon();
  else signal.addEventListener("abort", abandon, { once: true });
  begin(() => call(commit)).then(
    (value) => settle({ state: "returned", value }),
    (error: unknown) => settle({ state: "threw", error, committed }),
  );
  return promise;
}

async function begin<T>(call: () => Maybe<T>): Promise<T> {
  return await call();
}

/** A callback's result; `isError` counts as the failure it says it is. */
export function callbackResult(name: string, returned: unknown): Omit<NormalizedResult, "warnings"> {
  const normalized = normalizeResult(name, returned);
  const { result } = normalized;
  if (result.error || !isObject(returned) || returned["isError"] !== true) return normalized;
  return { result: { ...result, error: { message: contentText(result.content), type: "proposal_apply_failed" } } };
}
