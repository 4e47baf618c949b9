import { useState } from "preact/hooks";

/** What people typed into cards, so that it stays when a card is left and shown again. */
const drafts = new Map<string, unknown>();

/** A state that belongs to a request as it was shown: `of` is the fingerprint of its card. */
export function useDraft<T>(of: string, name: string, empty: T): readonly [value: T, set: (value: T) => void] {
  const key = `${of} ${name}`;
  const [value, setValue] = useState<T>(drafts.has(key) ? (drafts.get(key) as T) : empty); // only this hook stores under the key
  const set = (next: T): void => {
    drafts.set(key, next);
    setValue(next);
  };
  return [value, set];
}
