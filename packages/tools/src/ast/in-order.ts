/** Limits for concurrent work: the number of items, and their total weight unless a single item exceeds it. */
export type WorkLimits<T> = { readonly items: number; readonly most: number; readonly weight: (item: T) => number };

/** Maps items concurrently within limits and yields the results in order. If the consumer stops, no further item is started. */
export async function* mapInOrder<T, R>(items: Iterable<T>, load: WorkLimits<T>, act: (item: T) => Promise<R>): AsyncGenerator<R> {
  const running: { readonly result: Promise<R>; readonly weight: number }[] = [];
  let total = 0;
  for (const item of items) {
    const weight = load.weight(item);
    while (running.length === load.items || (running.length > 0 && total + weight > load.most)) {
      const first = running.shift();
      if (!first) break;
      total -= first.weight;
      yield await first.result;
    }
    const result = act(item);
    result.catch(() => undefined); // reported when its turn comes, so it is not an unhandled rejection
    running.push({ result, weight });
    total += weight;
  }
  for (const { result } of running) yield await result;
}
