import { randomUUID } from "node:crypto";
import type { JsonObject } from "./json.ts";
import type { UserMessage } from "./message.ts";
import type { QueryOptions } from "./query-options.ts";

export type FeedDeps = {
  readonly write: (line: JsonObject) => Promise<void>;
  /** Resolves after this many results. */
  readonly results: (count: number) => Promise<void>;
  /** Calls of an earlier run wait for answers, so there is a result without a prompt, too. */
  readonly resumes: boolean;
  /** Aborted when no more prompts can be sent. */
  readonly over: AbortSignal;
};

/**
 * Sends the prompts one by one, and returns when the last has its result. The input must stay open until then, because answers go through
 * it. Rejects with what the prompts throw.
 */
export async function feed(prompt: QueryOptions["prompt"], { write, results, resumes, over }: FeedDeps): Promise<void> {
  const iterator = typeof prompt === "string" ? one(prompt) : prompt[Symbol.asyncIterator]();
  const ids = new Set<string>();
  const ended = new Promise<undefined>((resolve) => over.addEventListener("abort", () => resolve(undefined), { once: true }));
  while (!over.aborted) {
    const next = await Promise.race([iterator.next(), ended]);
    if (next?.done) break;
    if (next === undefined) {
      iterator.return?.()?.catch(() => undefined); // it may never resolve, so it is not awaited
      return;
    }
    const line = userLine(next.value);
    ids.add(line.uuid);
    await write(line);
  }
  await Promise.race([results(Math.max(ids.size, resumes ? 1 : 0)), ended]);
}

async function* one(prompt: string): AsyncGenerator<string, void, undefined> {
  yield prompt;
}

function userLine(said: UserMessage | string): UserMessage & { readonly uuid: string } {
  const message: UserMessage = typeof said === "string" ? { type: "user", message: { role: "user", content: said } } : said;
  return { ...message, uuid: message.uuid ?? randomUUID() };
}

export type Counter = { add(): void; reach(count: number): Promise<void> };

export function createCounter(): Counter {
  let count = 0;
  let waiting: { readonly at: number; readonly resolve: () => void }[] = [];
  return {
    add() {
      count += 1;
      const due = waiting.filter(({ at }) => at <= count);
      waiting = waiting.filter(({ at }) => at > count);
      for (const { resolve } of due) resolve();
    },
    reach: (at) => (at <= count ? Promise.resolve() : new Promise((resolve) => void waiting.push({ at, resolve }))),
  };
}
