import { AsyncLocalStorage } from "node:async_hooks";
import { receiveMessageOnPort, workerData } from "node:worker_threads";
import { type FromThread, reviveError, type SentOutcome, type ThreadAsk, type ThreadStart, type ThreadSyncAsk } from "./thread-messages.ts";

/** A call of a module's tool, or the settling of an action, as its thread sees it. */
export type ThreadCall = { readonly id: number; readonly signal: AbortSignal; readonly canPush: boolean; over: boolean };

export type Scope = { readonly phase: "loading" | "judging" | "running"; readonly call?: ThreadCall };

/** Follows the module's code through promises and timers. */
export const SCOPE: AsyncLocalStorage<Scope> = new AsyncLocalStorage();

export const START: ThreadStart = takeStart();

/** Removes our ports from `workerData`, which the module could import too. */
function takeStart(): ThreadStart {
  const start: ThreadStart = { ...workerData };
  for (const key of Object.keys(workerData)) Reflect.deleteProperty(workerData, key);
  return start;
}

/** Sends a message to the program. Throws `DataCloneError` if a value cannot be cloned. */
export function post(message: FromThread): void {
  START.port.postMessage(message);
}

const answers = new Map<number, (outcome: SentOutcome) => void>();
let asked = 0;

/** Sends a request to the program without blocking. */
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

export function answer(id: number, outcome: SentOutcome): void {
  const settle = answers.get(id);
  answers.delete(id);
  settle?.(outcome);
}

/** Sends a request to the program and blocks this thread until the answer arrives. */
export function askSync(wish: ThreadSyncAsk): unknown {
  const { syncPort, answered } = START;
  Atomics.store(answered, 0, 0);
  post({ type: "sync", ask: wish });
  Atomics.wait(answered, 0, 0);
  const outcome: SentOutcome = receiveMessageOnPort(syncPort)?.message;
  if ("value" in outcome) return outcome.value;
  throw reviveError(outcome.error);
}
