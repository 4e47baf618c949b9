import { AsyncLocalStorage } from "node:async_hooks";
import { type By, type Dispatcher, type DispatcherDeps, type Ledger, messageOf, ParkRequest, type Session } from "@assent/core";
import type { Embedding } from "./adapters/embedding.ts";
import { GateUsageError } from "./gate-error.ts";
import type { GateOptions } from "./gate-options.ts";
import type { GatePolicy } from "./gate-policy.ts";
import type { GateTools } from "./gate-tools.ts";
import type { HostDeps } from "./host-deps.ts";

/** The open session of a gate. */
export type OpenedSession = Embedding & { readonly session: Session; readonly dispatcher: Dispatcher };

/** The session of a gate. A new one is created with its first call, so that a program that only answers leaves no trace. */
export type GateSession = {
  /** Undefined before the first call and after `close`. */
  readonly opened: () => OpenedSession | undefined;
  /** Opens the session. Rejects with `GateUsageError` if the gate is closed. */
  readonly current: () => Promise<OpenedSession>;
  /** Throws `GateUsageError` if the gate is closed. */
  readonly checkOpen: () => void;
  /** Throws `GateUsageError` inside of something that `during` runs. */
  readonly refuseNested: () => void;
  /** Runs something that `close` cancels and waits for. */
  readonly during: <T>(own: AbortSignal | undefined, act: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
};

/** What the session of a gate needs. */
export type GateSessionParts = {
  readonly id: () => string;
  readonly options: GateOptions;
  readonly ledger: () => Promise<Ledger>;
  readonly policy: GatePolicy;
  readonly tools: GateTools;
  readonly host: HostDeps;
  readonly person: (name?: string) => By;
  readonly deps: Pick<DispatcherDeps, "clock" | "ids" | "digest" | "handlers" | "decided" | "isObserved"> & {
    readonly warn: (message: string) => void;
  };
};

/** Opens the session; `running` is the signal of the turn that runs. */
type OpenForCalls = (running: () => AbortSignal | undefined) => Promise<OpenedSession>;

/** Creates the session of a gate. The first call opens it. */
export function createGateSession(parts: GateSessionParts, openForCalls: OpenForCalls): GateSession {
  const ending = new AbortController();
  const { signal: own } = parts.options;
  const signal = own ? AbortSignal.any([own, ending.signal]) : ending.signal;
  const underWay = new Set<Promise<unknown>>();
  const inside = new AsyncLocalStorage<{ readonly signal: AbortSignal; active: boolean }>();
  let opened: OpenedSession | undefined;
  let opening: Promise<OpenedSession> | undefined;
  let closing: { readonly done: Promise<void> } | undefined;
  const open = async (): Promise<OpenedSession> => {
    opened = await openForCalls(() => inside.getStore()?.signal);
    return opened;
  };
  const close = async (): Promise<void> => {
    ending.abort(new ParkRequest("the gate was closed"));
    await Promise.allSettled(underWay);
    await opening?.then(closeSession(parts), () => undefined);
    parts.policy.source.close();
    await (await parts.ledger()).close();
  };
  const checkOpen = (): void => {
    if (closing)
      throw new GateUsageError("closed", "This gate is closed. Create another one, with the same store and session to continue.");
  };
  const refuseNested = (): void => {
    if (underWay.size === 0 || !inside.getStore()?.active) return;
    const text = "A tool, hook or approver asked its own gate to run calls, and would wait for itself.";
    throw new GateUsageError("bad_call", `${text} Inside a tool, use ctx.gate({ name, arguments }). Elsewhere, use another gate.`);
  };
  return {
    opened: () => (closing ? undefined : opened),
    checkOpen,
    refuseNested,
    current: async () => {
      checkOpen();
      opening ??= open();
      return await opening;
    },
    during: async (own, act) => {
      refuseNested();
      const turn = own ? AbortSignal.any([own, signal]) : signal;
      const state = { signal: turn, active: true };
      const promise = inside.run(state, act, turn);
      underWay.add(promise);
      try {
        return await promise;
      } finally {
        state.active = false;
        underWay.delete(promise);
      }
    },
    close: () => {
      closing ??= { done: close() };
      return closing.done;
    },
  };
}

function closeSession({ deps }: GateSessionParts): (opened: OpenedSession) => Promise<void> {
  return async ({ session, dispatcher }) => {
    const waits = session.state.calls.size > 0;
    try {
      await dispatcher.close();
      await session.close(waits ? "parked" : "done", waits ? 75 : 0);
    } catch (error) {
      deps.warn(`the session could not be closed: ${messageOf(error)}`);
    }
  };
}
