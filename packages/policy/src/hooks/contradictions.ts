import { HOOK_EVENTS, type HookEventRow, type HookPoint, hookMayChange } from "@assent/core/parts";
import type { WrittenHook } from "./fields.ts";

/** A hook where it stands. */
export type PlacedHook = { readonly event: HookPoint; readonly hook: WrittenHook; readonly functions: readonly string[] };

/** What one field, or the hook as a whole, cannot mean. */
export type Contradiction = { readonly field?: keyof WrittenHook; readonly message: string };

type Case = PlacedHook & { readonly row: HookEventRow };
type Check = { readonly field?: keyof WrittenHook; readonly when: (found: Case) => boolean; readonly message: (found: Case) => string };

/** What is right by itself and cannot be meant together, or at this event. A guard that would not guard is an error, never passed over. */
const CHECKS: readonly Check[] = [
  { when: ({ hook }) => hook.type === "command" && hook.command === undefined, message: () => "needs a 'command'" },
  { when: ({ hook }) => hook.type === "function" && hook.function === undefined, message: () => "needs a 'function'" },
  {
    field: "function",
    when: ({ hook, functions }) => hook.function !== undefined && !functions.includes(hook.function),
    message: ({ hook }) => `names no function of this program: '${hook.function}'`,
  },
  {
    field: "onFailure",
    when: ({ hook, row }) => hook.onFailure === "warn" && row.failsClosed !== "no",
    message: ({ event }) => `cannot be warn: a hook that fails on ${event} is not passed over`,
  },
  {
    field: "onFailure",
    when: ({ hook, row }) => hook.onFailure === "block" && row.failsClosed === "no" && row.blocks === "no",
    message: ({ event }) => `cannot be block: nothing can be blocked on ${event}`,
  },
  {
    field: "onFailure",
    when: ({ hook }) => hook.onFailure === "block" && hook.async === true,
    message: () => "cannot be block in a hook that nobody waits for",
  },
  {
    field: "async",
    when: ({ hook, row }) => hook.async === true && hookMayChange(row),
    message: ({ event }) => `cannot be true: what a hook says on ${event} is waited for`,
  },
  {
    field: "if",
    when: ({ hook, row }) => hook.if !== undefined && !row.matchesOn.includes("tool"),
    message: ({ event }) => `has no meaning on ${event}, which is about no call`,
  },
];

/** Everything a hook says that it cannot mean. */
export function contradictions(placed: PlacedHook): readonly Contradiction[] {
  const found = { ...placed, row: HOOK_EVENTS[placed.event] };
  return CHECKS.filter(({ when }) => when(found)).map(({ field, message }) => ({ ...(field && { field }), message: message(found) }));
}
