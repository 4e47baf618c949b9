import { resolveMode, stricterMode } from "@assent/agent";
import type { Mode, Policy, PolicySource, Session } from "@assent/core";

/** What an agent is judged by. */
export type AgentPolicy = PolicySource & { readonly close: () => void };

/** Whose mode it is, and what may tighten it. */
export type AgentPolicyParts = {
  readonly session: Session;
  /** What the agent that started it is judged by. */
  readonly above: PolicySource;
  /** What its definition says; null: nothing. */
  readonly defined: Mode | null;
  readonly warn: (message: string) => void;
};

/**
 * The policy of the one above, in the agent's own mode: that with which it was built, or a stricter one that the one above has taken since. What is loosened above loosens
 * nothing here beyond what it began with. A change is on record in the agent's session, so that nothing judged before it is run.
 */
export function createAgentPolicy({ session, above, defined, warn }: AgentPolicyParts): AgentPolicy {
  const built = session.state.created?.mode ?? "default";
  let made: { readonly of: Policy; readonly policy: Policy } | undefined;
  const current = (): Policy => {
    const base = above.current();
    const mode = stricterMode(built, resolveMode(defined, base.mode));
    if (base.mode === mode) return base;
    if (made?.of !== base || made.policy.mode !== mode)
      made = { of: base, policy: { ...base, mode, revision: `${base.revision} in mode ${mode}` } };
    return made.policy;
  };
  let last: Promise<void> = Promise.resolve();
  const record = async (): Promise<void> => {
    const { mode: to, revision } = current();
    const from = session.state.mode;
    if (from === to) return;
    const events = [
      session.draft("mode.changed", { from, to, by: "session" }),
      session.draft("policy.changed", { revision, digest: above.current().revision }),
    ];
    await session.record(events, "full");
  };
  const close = above.subscribe(() => {
    last = last.then(record).catch((error: unknown) => warn(`the mode of an agent could not be recorded: ${String(error)}`));
  });
  return { current, subscribe: (changed) => above.subscribe(changed), close };
}
