import { type Lease, type Ledger, LedgerError } from "../../ledger-port.ts";
import type { Holder } from "../../model/holder.ts";
import type { SessionRow } from "../../model/ledger-rows.ts";
import type { Clock } from "../../ports.ts";

/** Most effects, and processes just killed, end within this time. */
const PATIENCE = { tries: 10, waitMs: 100 } as const;

type AcquirePorts = {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly endHolder?: (holder: Holder) => Promise<boolean>;
};

/**
 * Acquires a session for writing:
 * 1. While an effect runs, wait for a second.
 * 2. With `takeOver`, end the effect's process if it is an Assent command that holds only this session.
 * 3. Otherwise reject with `session_busy`.
 */
export async function acquireSession(ports: AcquirePorts, id: string, { holder, takeOver }: SessionClaimant): Promise<Lease> {
  const ended = new Set<string>();
  for (let tries = 1; ; tries += 1) {
    const taken = await ports.ledger.acquire(id, holder, takeOver).catch(asBusy);
    if (!(taken instanceof LedgerError)) return taken;
    if (tries <= PATIENCE.tries) await new Promise<void>((resolve) => ports.clock.timer(PATIENCE.waitMs, resolve, { keepsAlive: true }));
    else if (takeOver && (await endOnce(ports, id, taken, ended))) tries = 0;
    else throw taken;
  }
}

type SessionClaimant = { readonly holder: Holder; readonly takeOver: boolean };

function asBusy(error: unknown): LedgerError {
  if (error instanceof LedgerError && error.type === "session_busy") return error;
  throw error;
}

async function endOnce({ ledger, endHolder }: AcquirePorts, id: string, busy: LedgerError, ended: Set<string>): Promise<boolean> {
  const holder = busy.detail["holder"] as unknown as Holder | undefined;
  if (!holder?.command || !endHolder) return false;
  const name = `${holder.pid} ${holder.processStart}`;
  if (ended.has(name) || (await holdsOther(ledger, id, holder))) return false;
  ended.add(name);
  return await endHolder(holder);
}

/** A subagent's session counts as part of its root session. */
async function holdsOther(ledger: Ledger, id: string, { pid, processStart }: Holder): Promise<boolean> {
  const rows = new Map((await ledger.pending("sessions", { all: true })).map((row) => [row.id, row]));
  const family = rootOf(rows, id);
  return [...rows.values()].some(
    ({ id: other, writer }) => writer?.pid === pid && writer.processStart === processStart && rootOf(rows, other) !== family,
  );
}

function rootOf(rows: ReadonlyMap<string, SessionRow>, id: string): string {
  const seen = new Set<string>();
  let root = id;
  for (let parent = rows.get(id)?.parent; parent && !seen.has(parent.session); parent = rows.get(parent.session)?.parent) {
    seen.add(parent.session);
    root = parent.session;
  }
  return root;
}
