import type { Policy } from "../../ports.ts";
import type { DispatcherDeps } from "../dispatch.ts";

/** Law 4: a policy that cannot be had denies everything. */
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
  guards: Object.freeze([]),
  honourReadOnlyHint: false,
});
