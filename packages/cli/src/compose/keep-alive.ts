import type { Holder } from "@assent/core";
import { currentHolder, type HostPorts } from "@assent/host";
import type { Context } from "../command-line/spec.ts";
import { type Cancellation, cancelOnSignal } from "../io/cancel-on-signal.ts";
import type { Store } from "../store/open.ts";
import { hostPortsFor } from "./ports.ts";

const LONGEST_MS = 2 ** 30;

export type RunPorts = { readonly ports: HostPorts; readonly cancelling: Cancellation };

/** Keeps the process alive during the work, which a signal cancels. */
export async function keepAlive<T>(context: Context, { directory }: Store, work: (attending: RunPorts) => Promise<T>): Promise<T> {
  const ports = hostPortsFor(context, directory);
  const cancelling = cancelOnSignal(context.io, ports.clock);
  const alive = setInterval(() => undefined, LONGEST_MS); // the runtime's timers do not keep a process alive
  try {
    return await work({ ports, cancelling });
  } finally {
    clearInterval(alive);
    cancelling.release();
  }
}

/** A take-over may end a process that runs only this command. */
export function commandHolder({ io }: Pick<Context, "io">, door: string): Holder {
  return { ...currentHolder(door), ...(io.ownsProcess && { command: true }) };
}
