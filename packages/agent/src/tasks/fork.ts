import { AsyncLocalStorage } from "node:async_hooks";

const GUARD = new AsyncLocalStorage<boolean>();

/** True inside a fork, at any depth. */
export function isInsideFork(): boolean {
  return GUARD.getStore() === true;
}

/** Runs a function inside or outside of a fork. */
export function asFork<T>(inside: boolean, act: () => T): T {
  return GUARD.run(inside, act);
}
