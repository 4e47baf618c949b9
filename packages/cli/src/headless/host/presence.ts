import { untilAborted } from "../../io/cancel-on-signal.ts";
/** Whether the host can be asked. Unknown before its first line; false after it left. */
export type HostPresence = {
  /** False if it cannot be asked; true also while unknown. */
  readonly mayAsk: (what: HostCapability) => boolean;
  /** Resolves once it is known. */
  readonly canAsk: (what: HostCapability, signal: AbortSignal) => Promise<boolean>;
  /** The host joined and says what it can be asked. */
  readonly joined: (can: Readonly<Record<HostCapability, boolean>>) => void;
  /** The host sent a line without joining. */
  readonly spoke: () => void;
  readonly left: () => void;
};

export type HostCapability = "approvals" | "questions";

export function hostPresence(): HostPresence {
  let can: Readonly<Record<HostCapability, boolean>> | undefined;
  const { promise: known, resolve: settle } = Promise.withResolvers<void>();
  const now = (abilities: Readonly<Record<HostCapability, boolean>>): void => {
    can = abilities;
    settle();
  };
  const mayAsk = (what: HostCapability): boolean => can?.[what] ?? true;
  return {
    mayAsk,
    canAsk: async (what, signal) => {
      await Promise.race([known, untilAborted(signal)]);
      return can?.[what] === true && !signal.aborted;
    },
    joined: now,
    spoke: () => {
      if (!can) now(NOTHING);
    },
    left: () => now(NOTHING),
  };
}

const NOTHING = { approvals: false, questions: false };
