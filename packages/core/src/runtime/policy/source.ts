import type { Policy, PolicySource } from "../../ports.ts";
import type { DispatcherDeps } from "../dispatch.ts";

/** A policy that never changes. */
export function staticPolicy(policy: Partial<Policy> = {}): PolicySource {
  const fixed: Policy = { revision: "fixed", mode: "default", checkers: [], safeguards: [], honourReadOnlyHint: true, ...policy };
  return { current: () => fixed, subscribe: () => () => undefined };
}

/** The current policy; one that denies everything if it cannot be loaded. */
export function currentPolicy({ policy }: DispatcherDeps): Policy {
  try {
    return policy.current();
  } catch {
    return FAILED_POLICY;
  }
}

const FAILED_POLICY: Policy = Object.freeze({
  revision: "failed",
  mode: "default",
  checkers: Object.freeze([{ label: "policy (failed to load)", scope: "policy" as const, check: () => ({ verdict: "deny" as const }) }]),
  safeguards: Object.freeze([]),
  honourReadOnlyHint: false,
});
