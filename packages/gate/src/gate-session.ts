import { AsyncLocalStorage } from "node:async_hooks";
import {
  type By,
  createDispatcher,
  type Dispatcher,
  type DispatcherDeps,
  type Ledger,
  messageOf,
  openSession,
  ParkRequest,
  type Session,
} from "@assent/core";
import { currentHolder } from "@assent/host";
import type { Embedding } from "./adapters/embedding.ts";
import { GateUsageError } from "./gate-error.ts";
import { openGateHooks } from "./gate-hooks.ts";
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
  /** The session exists. */
  readonly resumes: boolean;
  readonly ledger: () => Ledger;
  readonly policy: GatePolicy;
  readonly tools: GateTools;
  readonly host: HostDeps;
  readonly hooks: GateOptions["hooks"];
  readonly person: () => By;
  /** Cancels everything. */
  readonly signal: AbortSignal | undefined;
  readonly deps: Pick<DispatcherDeps, "clock" | "ids" | "digest" | "approver" | "onAsk" | "handlers" | "decided" | "isObserved"> & {
    readonly warn: (message: string) => void;
  };
};

/** Creates the session of a gate without opening it. */
export function createGateSession(parts: GateSessionParts): GateSession {
  const ending = new AbortController();
  const signal = parts.signal ? AbortSignal.any([parts.signal, ending.signal]) : ending.signal;
  const underWay = new Set<Promise<unknown>>();
  const inside = new AsyncLocalStorage<{ readonly signal: AbortSignal; active: boolean }>();
  let opened: OpenedSession | undefined;
  let opening: Promise<OpenedSession> | undefined;
  let closing: { readonly done: Promise<void> } | undefined;
  const open = async (): Promise<OpenedSession> => {
    opened = await openForCalls(parts, () => inside.getStore()?.signal);
    return opened;
  };
  const close = async (): Promise<void> => {
    ending.abort(new ParkRequest("the gate was closed"));
    await Promise.allSettled(underWay);
    await opening?.then(closeSession(parts), () => undefined);
    parts.policy.source.close();
    await parts.ledger().close();
  };
  const checkOpen = (): void => {
    if (closing)
      throw new GateUsageError("closed", "This gate is closed. Create another one, with the same store and session to continue.");
  };
  const refuseNested = (): void => {
    if (!inside.getStore()?.active) return;
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
      const promise = inside.run(state, () => act(turn));
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

async function openForCalls(parts: GateSessionParts, running: () => AbortSignal | undefined): Promise<OpenedSession> {
  const { resumes, policy, tools, host, deps } = parts;
  const id = parts.id();
  const { clock } = deps;
  const holder = currentHolder("gate");
  const { changes, files, processes, endHolder } = host;
  const { mode } = policy.source.current();
  const ports = { ledger: parts.ledger(), clock, ids: { next: () => id }, ...(endHolder && { endHolder }) };
  const session = await openSession(ports, resumes ? { holder, id } : { holder, create: { cwd: policy.workspace, mode } });
  const settings = policy.source.settings();
  const { "tools.maxConcurrency": maxConcurrency, "tools.timeoutMs": timeoutMs, "recovery.retryIdempotent": retryIdempotent } = settings;
  const hooks = await openGateHooks(parts.hooks, { ...deps, session, policy }, running);
  const dispatcher = createDispatcher({
    ...deps,
    by: parts.person(),
    ...(hooks && { hooks }),
    ...{ session, policy: policy.source, facts: policy.facts, rules: policy.rules, tools, maxConcurrency, retryIdempotent },
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(changes && { changes }),
    ...(files && { files }),
    ...(processes && { processes }),
  });
  return { session, dispatcher, tools };
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
