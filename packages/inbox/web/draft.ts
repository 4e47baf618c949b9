import { useState } from "preact/hooks";
import type { InboxCard } from "../src/desk.ts";

/** What people typed into cards, so that it stays when they look at another card and come back. */
const drafts = new Map<string, unknown>();

/** A state that belongs to one request, as long as what it asks does not change. */
export function useDraft<T>({ id, fingerprint }: InboxCard, name: string, empty: T): readonly [value: T, set: (value: T) => void] {
  const key = `${id} ${fingerprint} ${name}`;
  const [value, setValue] = useState<T>(drafts.has(key) ? (drafts.get(key) as T) : empty); // only this hook stores under the key
  const set = (next: T): void => {
    drafts.set(key, next);
    setValue(next);
  };
  return [value, set];
}
