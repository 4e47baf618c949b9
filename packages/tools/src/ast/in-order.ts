/** How much is done at once: at most this many items, and together no heavier than `most`, unless one alone is. */
export type WorkLimits<T> = { readonly items: number; readonly most: number; readonly weight: (item: T) => number };

/** Does the same with every item, some at once, and gives the results in the order of the items. Whoever stops asking stops the rest from being begun. */
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
    result.catch(() => undefined); // it is heard when its turn comes; until then nobody must take it for unheard
    running.push({ result, weight });
    total += weight;
  }
  for (const { result } of running) yield await result;
}
