import { randomUUID } from "node:crypto";
import type { JsonObject } from "./json.ts";
import type { UserMessage } from "./message.ts";
import type { QueryOptions } from "./query-options.ts";

/** Where prompts go, and what comes back of them. */
export type Fed = {
  readonly write: (line: JsonObject) => Promise<void>;
  /** Resolves when so many results have come. */
  readonly results: (count: number) => Promise<void>;
  /** Aborted when nothing can be said any more. */
  readonly over: AbortSignal;
};

/**
 * Says every prompt, each when the process has taken the one before, and returns when the last has its result: only then may the input end, for
 * asks are answered through it. Rejects with what the prompts throw.
 */
export async function feed(prompt: QueryOptions["prompt"], { write, results, over }: Fed): Promise<void> {
  const iterator = typeof prompt === "string" ? one(prompt) : prompt[Symbol.asyncIterator]();
  const ids = new Set<string>();
  const ended = new Promise<undefined>((resolve) => over.addEventListener("abort", () => resolve(undefined), { once: true }));
  while (!over.aborted) {
    const next = await Promise.race([iterator.next(), ended]);
    if (next?.done) break;
    if (next === undefined) {
      iterator.return?.()?.catch(() => undefined); // it may wait for ever: not ours to await
      return;
    }
    const line = userLine(next.value);
    ids.add(line.uuid);
    await write(line);
  }
  await Promise.race([results(ids.size), ended]);
}

async function* one(prompt: string): AsyncGenerator<string, void, undefined> {
  yield prompt;
}

function userLine(said: UserMessage | string): UserMessage & { readonly uuid: string } {
  const message: UserMessage = typeof said === "string" ? { type: "user", message: { role: "user", content: said } } : said;
  return { ...message, uuid: message.uuid ?? randomUUID() };
}
