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
  const inTurn = async <T>(signal: AbortSignal, act: () => Maybe<T>): Promise<T> => {
    await enter(signal);
    try {
      return await act();
    } finally {
      leave();
    }
  };
  return (signal, act) => {
    if (underWay > 0) return inTurn(signal, act);
    underWay += 1;
    try {
      const acted = act();
      if (acted instanceof Promise) return acted.finally(leave);
      leave();
      return Promise.resolve(acted);
    } catch (error) {
      leave();
      return Promise.reject(error);
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
