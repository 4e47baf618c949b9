import type { Clock, Hooks } from "@assent/core";

/** Longer than any sensible check in this process. */
const LIMIT_MS = 60_000;
/** Hooks after an effect still run when the call is cancelled, but not for long. */
const GRACE_MS = 1_000;

/** Hooks of a program that cannot block forever. One that does not answer counts as failed, and a failed hook blocks. */
export function limitHooks(hooks: Hooks, clock: Clock, running: () => AbortSignal | undefined): Hooks {
  return {
    consult: (event, input, signal) =>
      new Promise((resolve, reject) => {
        const ends: (() => void)[] = [];
        const failAfter = (ms: number): void =>
          void ends.push(clock.timer(ms, () => reject(new Error(`The hook of ${event} did not answer in time.`))));
        const failOnAbort = (aborting: AbortSignal | undefined, ms: number): void => {
          const fail = (): void => failAfter(ms);
          if (aborting?.aborted) fail();
          aborting?.addEventListener("abort", fail, { once: true });
          ends.push(() => aborting?.removeEventListener("abort", fail));
        };
        failAfter(LIMIT_MS);
        failOnAbort(signal, 0);
        failOnAbort(running(), GRACE_MS);
        const consulted = Promise.resolve().then(() => hooks.consult(event, input, signal));
        void consulted.then(resolve, reject).finally(() => {
          for (const end of ends) end();
        });
      }),
    ...(hooks.applies && { applies: (event, tool) => hooks.applies?.(event, tool) ?? true }),
    tell: (event, input) => hooks.tell(event, input),
  };
}
