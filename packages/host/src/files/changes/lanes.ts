/** Enough to keep a disk busy, few enough to hold little in memory. */
const LANE_COUNT = 8;

/** Does the work for every item, a few at a time. After a failure nothing new is begun; it rejects with the first one when all that had begun is over. */
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
