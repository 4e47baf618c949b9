import { AsyncLocalStorage } from "node:async_hooks";

const GUARD = new AsyncLocalStorage<boolean>();

/** True for everything that a fork does, however deep, and for nothing else. */
export function isInsideFork(): boolean {
  return GUARD.getStore() === true;
}

/** Runs something as the work of a fork, or as nobody's. */
export function asFork<T>(inside: boolean, act: () => T): T {
  return GUARD.run(inside, act);
}
