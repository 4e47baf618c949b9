const LANE_COUNT = 8;

/** Runs `work` for every item, a few at a time. After a failure it starts nothing new, waits for the rest and rejects with the first error. */
export async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  let failed: { readonly error: unknown } | undefined;
  const lane = async (): Promise<void> => {
    for (const item of rest) {
      if (failed) return;
      await work(item).catch((error: unknown) => {
        failed ??= { error };
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANE_COUNT, items.length) }, lane));
  if (failed) throw failed.error;
}
