import type { JsonObject } from "./json.ts";
import type { HookOption, QueryOptions } from "./query-options.ts";

/** A hook with its id. */
export type RegisteredHook = HookOption & { readonly id: string; readonly event: string };

/** Assigns an id to each hook. */
export function registerHooks(hooks: NonNullable<QueryOptions["hooks"]>): readonly RegisteredHook[] {
  const all = Object.entries(hooks).flatMap(([event, options]) => options.map((option) => ({ ...option, event })));
  return all.map((hook, at) => ({ ...hook, id: `hook_${at + 1}` }));
}

/** The hooks for the first request, by event. */
export function registration(hooks: readonly RegisteredHook[]): JsonObject {
  const events = Map.groupBy(hooks, ({ event }) => event);
  return Object.fromEntries([...events].map(([event, its]) => [event, its.map(announced)]));
}

function announced({ id, matcher, timeoutMs }: RegisteredHook): JsonObject {
  return { callback_ids: [id], ...(matcher !== undefined && { matcher }), ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }) };
}
