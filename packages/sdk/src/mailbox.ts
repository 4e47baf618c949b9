/** A bounded queue between the process and the iterator of a query. */
export type Mailbox<T> = {
  /** Resolves when there is room. Never rejects. */
  put(item: T): Promise<void>;
  take(): Promise<IteratorResult<T, undefined>>;
  /** Lifts the bound until the returned function is called. */
  lift(): () => void;
  /** Ends the queue. The error, if any, is thrown once after the last item. */
  end(error?: Error): void;
  /** Like `end`, but discards queued items. */
  drop(error?: Error): void;
};

type Taker<T> = { readonly resolve: (result: IteratorResult<T, undefined>) => void; readonly reject: (error: Error) => void };

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

export function createMailbox<T>(room: number): Mailbox<T> {
  const items: T[] = [];
  const takers: Taker<T>[] = [];
  let lifted = 0;
  let waiting: (() => void)[] = [];
  let ended: { error: Error | undefined } | undefined;

  function wakePutter(): void {
    if (!ended && lifted === 0 && items.length >= room) return;
    const ready = waiting;
    waiting = [];
    for (const resolve of ready) resolve();
  }

  function end(error?: Error): void {
    ended ??= { error };
    wakePutter();
    for (const taker of takers.splice(0)) settle(taker);
  }

  function settle({ resolve, reject }: Taker<T>): void {
    const error = ended?.error;
    ended = { error: undefined };
    if (error) reject(error);
    else resolve(DONE);
  }

  return {
    put(item) {
      if (ended) return Promise.resolve();
      const taker = takers.shift();
      if (taker) taker.resolve({ done: false, value: item });
      else items.push(item);
      return new Promise((resolve) => {
        waiting.push(resolve);
        wakePutter();
      });
    },
    take() {
      const [item] = items.splice(0, 1);
      wakePutter();
      if (item !== undefined) return Promise.resolve({ done: false, value: item });
      return new Promise((resolve, reject) => {
        takers.push({ resolve, reject });
        if (ended) for (const taker of takers.splice(0)) settle(taker);
      });
    },
    lift() {
      lifted += 1;
      wakePutter();
      let held = true;
      return () => {
        if (held) lifted -= 1;
        held = false;
      };
    },
    end,
    drop(error) {
      items.length = 0;
      end(error);
    },
  };
}
