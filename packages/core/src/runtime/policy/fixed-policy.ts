import type { Policy, PolicySource } from "../../ports.ts";

/** A policy that never changes; what is left out adds nothing. */
export function fixedPolicy(policy: Partial<Policy> = {}): PolicySource {
  const fixed: Policy = { revision: "fixed", mode: "default", checkers: [], guards: [], honourReadOnlyHint: true, ...policy };
  return { current: () => fixed, subscribe: () => () => undefined };
}
