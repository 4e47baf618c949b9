import type { Maybe } from "../tool-definition.ts";

/** One batch after the other; one that is cancelled while it waits need not wait to be told so. */
export function makeBatchTurns(): <T>(signal: AbortSignal, act: () => Maybe<T>) => Promise<T> {
  let underWay = 0;
  let idle: PromiseWithResolvers<void> | undefined;
  const leave = (): void => {
    underWay -= 1;
    if (underWay > 0) return;
    idle?.resolve();
    idle = undefined;
  };
  const enter = async (signal: AbortSignal): Promise<void> => {
    while (underWay > 0 && !signal.aborted) {
      idle ??= Promise.withResolvers<void>();
      await orAborted(idle.promise, signal);
    }
    underWay += 1;
  };
  return async (signal, act) => {
    if (underWay === 0) underWay += 1;
    else await enter(signal);
    try {
      const acted = act();
      return acted instanceof Promise ? await acted : acted;
    } finally {
      leave();
    }
  };
}

function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener("abort", done);
      resolve();
    };
    signal.addEventListener("abort", done, { once: true });
    promise.then(done, done);
  });
}
