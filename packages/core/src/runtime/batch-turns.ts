/** Runs one batch after the other. A batch that is cancelled while it waits starts at once, to end at once. */
export function makeBatchTurns(): <T>(signal: AbortSignal, act: () => Promise<T>) => Promise<T> {
  let underWay = 0;
  let idle = Promise.withResolvers<void>();
  return async (signal, act) => {
    while (underWay > 0 && !signal.aborted) await orAborted(idle.promise, signal);
    underWay += 1;
    try {
      return await act();
    } finally {
      underWay -= 1;
      if (underWay === 0) {
        idle.resolve();
        idle = Promise.withResolvers<void>();
      }
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
