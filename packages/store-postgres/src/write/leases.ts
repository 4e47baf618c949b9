import { type Lease, type Ledger, LedgerError } from "@assent/core";
import { staleWriter } from "@assent/store/parts";
import type { Link } from "../connect/link.ts";

/** The leases that this process holds. It renews them by the database's clock until they are given back or lost. */
export type HeldLeases = {
  readonly taken: (lease: Lease) => void;
  /** The session was closed or taken over. */
  readonly ended: (session: string) => void;
  readonly hold: Ledger["hold"];
  /** Gives all back. */
  readonly close: () => Promise<void>;
};

type HeldLease = { readonly epoch: number; users: number; last: Promise<unknown> };

/** A holder that does not renew for this long may be replaced. */
export const LEASE_MS = 15_000;

const UNTIL = (parameter: number): string => `clock_timestamp() + $${parameter} * interval '1 millisecond'`;

export function makeHeldLeases(link: Link, leaseMs: number, failed: (error: unknown) => void): HeldLeases {
  const held = new Map<string, HeldLease>();
  const renew = async (): Promise<void> => {
    if (held.size === 0) return;
    const all = [...held];
    const { rows } = await link.run((connection) =>
      connection.query<{ readonly session: string }>(
        `update leases l set held_until = ${UNTIL(4)}, busy = h.busy from unnest($1::text[], $2::bigint[], $3::boolean[]) as h(session, epoch, busy)
         where l.session = h.session and l.epoch = h.epoch returning l.session`,
        [all.map(([session]) => session), all.map(([, { epoch }]) => epoch), all.map(([, { users }]) => users > 0), leaseMs],
      ),
    );
    const kept = new Set(rows.map(({ session }) => session));
    for (const [session, lease] of all) if (!kept.has(session) && held.get(session) === lease) held.delete(session);
  };
  const timer = setInterval(() => void renew().catch(failed), leaseMs / 3);
  timer.unref();
  /** True if the lease is still ours. One that was not renewed in time is, unless another process took the session. */
  const setBusy = async ({ session, epoch }: Pick<Lease, "session" | "epoch">, busy: boolean): Promise<boolean> => {
    const { rowCount } = await link.run((connection) =>
      connection.query(`update leases set busy = $3, held_until = ${UNTIL(4)} where session = $1 and epoch = $2`, [
        session,
        epoch,
        busy,
        leaseMs,
      ]),
    );
    return rowCount === 1;
  };
  const refuse = async (lease: Lease): Promise<never> => {
    const { rows } = await link.run((connection) =>
      connection.query<{ readonly epoch: number }>("select epoch from leases where session = $1", [lease.session]),
    );
    throw staleWriter(lease, rows[0]?.epoch);
  };
  const release = (lease: Lease, known: HeldLease): void => {
    known.users -= 1;
    if (known.users > 0) return;
    known.last = known.last.then(async () => {
      if (known.users === 0) await setBusy(lease, false).catch(failed);
    });
  };
  return {
    taken: ({ session, epoch }) => void held.set(session, { epoch, users: 0, last: Promise.resolve() }),
    ended: (session) => void held.delete(session),
    hold: async (lease) => {
      const known = held.get(lease.session);
      if (known?.epoch !== lease.epoch) return refuse(lease);
      known.users += 1;
      let isReleased = false;
      const free = (): void => {
        if (!isReleased) release(lease, known);
        isReleased = true;
      };
      try {
        const ours = known.last.then(() => setBusy(lease, true));
        known.last = ours.catch(() => undefined);
        if (await ours) return free;
      } catch (error) {
        free();
        throw error;
      }
      held.delete(lease.session);
      return refuse(lease);
    },
    close: async () => {
      clearInterval(timer);
      const all = [...held];
      held.clear();
      if (all.length === 0) return;
      await Promise.all(all.map(([, { last }]) => last));
      await link
        .run((connection) =>
          connection.query(
            `update leases l set held_until = clock_timestamp(), busy = false from unnest($1::text[], $2::bigint[]) as h(session, epoch)
             where l.session = h.session and l.epoch = h.epoch`,
            [all.map(([session]) => session), all.map(([, { epoch }]) => epoch)],
          ),
        )
        .catch((error: unknown) => {
          if (!(error instanceof LedgerError)) throw error; // the leases end by themselves
        });
    },
  };
}
