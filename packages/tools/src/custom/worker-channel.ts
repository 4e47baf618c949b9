import { AsyncLocalStorage } from "node:async_hooks";
import { receiveMessageOnPort, workerData } from "node:worker_threads";
import { type FromThread, reviveError, type SentOutcome, type ThreadAsk, type ThreadStart, type ThreadSyncAsk } from "./thread-messages.ts";

/** A call of a module's tool, or the settling of what it staged, as its thread sees it. */
export type ThreadCall = { readonly id: number; readonly signal: AbortSignal; readonly canPush: boolean; over: boolean };

/** What code of the module is doing. */
export type Scope = { readonly phase: "loading" | "judging" | "running"; readonly call?: ThreadCall };

/** Follows the module's code through its promises and timers. */
export const SCOPE: AsyncLocalStorage<Scope> = new AsyncLocalStorage();

/** What this thread was started with. */
export const START: ThreadStart = takeStart();

/** The module could import `workerData` too: it must not find our ports there. */
function takeStart(): ThreadStart {
  const start: ThreadStart = { ...workerData };
  for (const key of Object.keys(workerData)) Reflect.deleteProperty(workerData, key);
  return start;
}

/** Tells the program something. Throws `DataCloneError` where a value cannot be sent. */
export function post(message: FromThread): void {
  START.port.postMessage(message);
}

const answers = new Map<number, (outcome: SentOutcome) => void>();
let asked = 0;

/** Asks the program to do something, and waits without blocking. */
export function ask(wish: ThreadAsk, signal?: AbortSignal): Promise<unknown> {
  asked += 1;
  const id = asked;
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const cancel = (): void => post({ type: "cancelAsk", id });
  post({ type: "ask", id, ask: wish });
  answers.set(id, (outcome) => {
    signal?.removeEventListener("abort", cancel);
    if ("value" in outcome) resolve(outcome.value);
    else reject(reviveError(outcome.error));
  });
  if (signal?.aborted) cancel();
  else signal?.addEventListener("abort", cancel, { once: true });
  return promise;
}

/** Hands an answer to the code that asked. */
export function answer(id: number, outcome: SentOutcome): void {
  const settle = answers.get(id);
  answers.delete(id);
  settle?.(outcome);
}

/** Asks the program and blocks this thread until it has answered. */
export function askSync(wish: ThreadSyncAsk): unknown {
  const { syncPort, answered } = START;
  Atomics.store(answered, 0, 0);
  post({ type: "sync", ask: wish });
  Atomics.wait(answered, 0, 0);
  const outcome: SentOutcome = receiveMessageOnPort(syncPort)?.message;
  if ("value" in outcome) return outcome.value;
  throw reviveError(outcome.error);
}
