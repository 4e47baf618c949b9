import { resolveMode, stricterMode } from "@assent/agent";
import type { Mode, Policy, PolicySource, Session } from "@assent/core";

export type AgentPolicyParts = {
  readonly session: Session;
  readonly above: PolicySource;
  readonly defined: Mode | null;
  readonly warn: (message: string) => void;
};

/** Uses the parent's rules in the agent's mode, or in a stricter one the parent changed to. Never loosens. */
export function createAgentPolicy({ session, above, defined, warn }: AgentPolicyParts): PolicySource & { readonly close: () => void } {
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
