import type { Holder, Session } from "@assent/core";
import { currentHolder, type HostPorts } from "@assent/host";
import type { Context } from "../command-line/spec.ts";
import { type Cancellation, cancelOnSignal } from "../io/cancel-on-signal.ts";
import type { Store } from "../store/store.ts";
import { hostPortsFor } from "./ports.ts";

const LONGEST_MS = 2 ** 30;

export type RunPorts = { readonly ports: HostPorts; readonly cancelling: Cancellation };

/** Keeps the process alive during the work, which a signal cancels. */
export async function keepAlive<T>(context: Context, { directory, ledger }: Store, work: (attending: RunPorts) => Promise<T>): Promise<T> {
  const ports = hostPortsFor(context, directory);
  const cancelling = cancelOnSignal(context.io, ports.clock, ledger);
  return await withTimer(() => work({ ports, cancelling })).finally(cancelling.release);
}

export async function withTimer<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, LONGEST_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Records that a closed session is open during the work, so that a crash is not mistaken for a finished session. */
export async function reopenDuring<T>(session: Session, work: () => Promise<T>): Promise<T> {
  const before = session.state.closed;
  if (before) await session.record([session.draft("session.opened", { ...session.holder, recovered: [] })], "full");
  try {
    return await work();
  } finally {
    if (before) await session.close(before.reason, before.exit);
  }
}

/** A take-over may end a process that runs only this command. */
export function commandHolder({ io, worker }: Pick<Context, "io" | "worker">, door: string): Holder {
  return { ...currentHolder(worker ? "worker" : door), ...(io.ownsProcess && { command: true }) };
}
