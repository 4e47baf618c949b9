import { MODES } from "../../model/decision.ts";
import type { Policy, PolicySource } from "../../ports.ts";
import type { Session } from "../session/session.ts";

/** A session's recorded mode, as a policy. */
export type Modes = PolicySource & {
  readonly mode: () => string;
  /** Call it before the first call. A mode changed in settings applies if it is stricter, or if no one changed it here. */
  readonly begin: (by: string) => Promise<void>;
  /** Records a mode. A stricter one applies at once, a looser one after it is recorded. */
  readonly change: (to: string, by: string) => Promise<void>;
  readonly close: () => void;
};

/** The parts of a session's modes. */
export type ModesParts = {
  readonly session: Session;
  readonly policy: PolicySource;
  readonly planFile: string;
  readonly warn?: (message: string) => void;
};

/** Creates a session's modes, which follow the settings. */
export function createModes({ session, policy, planFile, warn }: ModesParts): Modes {
  const { state } = session;
  const changed = new Set<() => void>();
  const tell = (): void => {
    for (const listener of [...changed]) listener();
  };
  let settings = policy.current().mode;
  let ahead: { readonly mode: string; readonly change: number } | undefined;
  let changes = 0;
  let last: Promise<void> = Promise.resolve();
  const mode = (): string => ahead?.mode ?? state.mode;
  const current = makeCurrent(policy, mode);
  const record = async (to: string, by: string): Promise<void> => {
    if (state.mode === to && (to === "plan") === (state.planning !== null)) return;
    const from = state.mode;
    const planning = { remembered: from === "plan" ? "default" : from, file: planFile };
    const { revision } = policy.current();
    const events = [
      session.draft("mode.changed", { from, to, by, ...(to === "plan" && { planning }) }),
      session.draft("policy.changed", { revision: revisionIn(policy.current(), to), digest: revision }),
    ];
    await session.record(events, "full"); // calls judged under the old mode cannot be claimed after this
  };
  const change = (to: string, by: string): Promise<void> => {
    changes += 1;
    const number = changes;
    if (strictness(to) < strictness(mode())) {
      ahead = { mode: to, change: number };
      tell();
    }
    const done = last.then(async () => {
      await record(to, by);
      if (ahead && ahead.change <= number) ahead = undefined;
      tell();
    });
    last = done.catch(() => undefined);
    return done;
  };
  const unsubscribe = policy.subscribe(() => {
    const now = policy.current().mode;
    if (now === settings) return tell();
    settings = now;
    change(now, "settings").catch((error: unknown) => warn?.(`the mode could not be recorded: ${String(error)}`));
  });
  return {
    mode,
    current,
    change,
    begin: (by) => (state.planning === null ? change(modeAtStart(state, settings), by) : Promise.resolve()),
    subscribe: (listener) => {
      changed.add(listener);
      return () => void changed.delete(listener);
    },
    close: unsubscribe,
  };
}

function modeAtStart({ created, mode }: Session["state"], settings: string): string {
  if (created === undefined || settings === created.mode) return mode;
  return mode === created.mode || strictness(settings) < strictness(mode) ? settings : mode;
}

function makeCurrent(policy: PolicySource, mode: () => string): () => Policy {
  let made: { readonly of: Policy; readonly policy: Policy } | undefined;
  return () => {
    const base = policy.current();
    const now = mode();
    if (base.mode === now) return base;
    if (made?.of === base && made.policy.mode === now) return made.policy;
    made = { of: base, policy: { ...base, mode: now, revision: revisionIn(base, now) } };
    return made.policy;
  };
}

function revisionIn({ revision, mode }: Policy, now: string): string {
  return mode === now ? revision : `${revision} in mode ${now}`;
}

const FROM_STRICT_TO_LOOSE: readonly string[] = ["plan", ...MODES.filter((mode) => mode !== "plan")];

function strictness(mode: string): number {
  return FROM_STRICT_TO_LOOSE.indexOf(mode);
}
