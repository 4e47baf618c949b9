/** Whether the host can be asked. Unknown before its first line; false after it has left. */
export type HostPresence = {
  /** False: it cannot be asked. True also while it is not known. */
  readonly mayAsk: (what: HostCapability) => boolean;
  /** Resolves when it is known; true: it can be asked. */
  readonly canAsk: (what: HostCapability, signal: AbortSignal) => Promise<boolean>;
  /** It has joined, and says what it can be asked. */
  readonly joined: (can: Readonly<Record<HostCapability, boolean>>) => void;
  /** It has spoken without joining. */
  readonly spoke: () => void;
  readonly left: () => void;
};

/** What a host may be asked for. */
export type HostCapability = "approvals" | "questions";

/** A host of which nothing is known yet. */
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
      await Promise.race([known, aborted(signal)]);
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

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
