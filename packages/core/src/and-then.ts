import type { Maybe } from "./tool-definition.ts";

/** What follows from a value, at once where it is there already: most steps of most calls wait for nothing. */
export function andThen<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
