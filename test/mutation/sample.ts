/** A seeded choice of so many of the items: every n-th of them, so that it is spread over all, from a place that the seed decides. */
export function sampled<Item>(items: readonly Item[], most: number, seed: number): readonly Item[] {
  if (items.length <= most) return items;
  let state = seed >>> 0;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  random();
  const step = items.length / most;
  return Array.from({ length: most }, (_, i) => items[Math.floor((i + random()) * step)]).filter((item) => item !== undefined);
}
