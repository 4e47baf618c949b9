/** Applies host settings in order; messages wait until earlier settings are applied. */
export type HostSettings = {
  /** Begins when what was given before has ended, however it ended. */
  readonly inOrder: <T>(work: () => Promise<T>) => Promise<T>;
  /** Begins at once: it keeps an order of its own. */
  readonly atOnce: <T>(work: Promise<T>) => Promise<T>;
  /** Resolves when nothing of what was given up to now is under way. */
  readonly settled: () => Promise<void>;
};

/** Nothing is being set. */
export function hostSettings(): HostSettings {
  const open = new Set<Promise<unknown>>();
  let last: Promise<unknown> = Promise.resolve();
  const atOnce = async <T>(work: Promise<T>): Promise<T> => {
    open.add(work);
    return await work.finally(() => open.delete(work));
  };
  return {
    atOnce,
    inOrder: (work) => {
      const done = last.then(work);
      last = done.catch(() => undefined);
      return atOnce(done);
    },
    settled: async () => {
      await Promise.allSettled(open);
    },
  };
}
