/** Applies host settings in order; messages wait for them. */
export type HostSettings = {
  readonly inOrder: <T>(work: () => Promise<T>) => Promise<T>;
  readonly atOnce: <T>(work: Promise<T>) => Promise<T>;
  /** Resolves when all work so far has ended. */
  readonly settled: () => Promise<void>;
};

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
