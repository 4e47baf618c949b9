/** Does the same with every item, some at once, and gives the results in the order of the items. Whoever stops asking stops the rest from being begun. */
export async function* inOrder<T, R>(items: Iterable<T>, atOnce: number, act: (item: T) => Promise<R>): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  for (const item of items) {
    if (running.length === atOnce) yield* running.splice(0, 1);
    const result = act(item);
    result.catch(() => undefined); // it is heard when its turn comes; until then nobody must take it for unheard
    running.push(result);
  }
  yield* running;
}
