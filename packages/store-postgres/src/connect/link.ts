import { setTimeout as wait } from "node:timers/promises";
import { LedgerError } from "@assent/core";
import type { StoreWarning } from "@assent/store";
import type { Connect, Connection } from "./connection.ts";
import { databaseError, isLostConnection, reasonOf, unreachable } from "./failure.ts";

/** A connection that is opened again after it was lost. */
export type Link = {
  /** Repeats the work on a new connection while the database is away, until the outage has lasted too long. */
  readonly run: <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
};

/** One outage concerns all connections of a ledger. */
export type Outage = {
  /** Waits before the next attempt. Throws `store_unreachable` once the database has been away for too long. */
  readonly waitAfter: (error: unknown) => Promise<void>;
  readonly end: () => void;
  /** Aborts a while after `leave` or `close`, for work that the server does not answer. */
  readonly left: AbortSignal;
  /** From now on, an outage is an error at once. */
  readonly leave: () => void;
};

export type OutageOptions = { readonly shown: string; readonly waitMs: number; readonly warn: (warning: StoreWarning) => void };

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;
const LEAVING_MS = 3_000;

export function makeOutage({ shown, waitMs, warn }: OutageOptions): Outage {
  const closing = new AbortController();
  const left = new AbortController();
  let since: number | undefined;
  let pause = FIRST_PAUSE_MS;
  let isReported = false;
  return {
    waitAfter: async (error) => {
      since ??= performance.now();
      if (closing.signal.aborted || performance.now() - since >= waitMs) throw unreachable(error, shown);
      if (!isReported && pause > FIRST_PAUSE_MS)
        warn({
          type: "store_unreachable",
          message: `The ledger ${shown} cannot be reached: ${reasonOf(error)}. Assent keeps trying. Nothing runs until it is back.`,
        });
      isReported ||= pause > FIRST_PAUSE_MS;
      const now = pause;
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      await wait(now, undefined, { signal: closing.signal }).catch(() => {
        throw unreachable(error, shown);
      });
    },
    end: () => {
      if (isReported) warn({ type: "store_reachable", message: `The ledger ${shown} can be reached again.` });
      since = undefined;
      pause = FIRST_PAUSE_MS;
      isReported = false;
    },
    left: left.signal,
    leave: () => {
      if (closing.signal.aborted) return;
      closing.abort();
      setTimeout(() => left.abort(), LEAVING_MS).unref();
    },
  };
}

export type LinkOptions = {
  readonly connect: Connect;
  readonly outage: Outage;
  readonly shown: string;
  /** An open connection to begin with. */
  readonly first?: Connection;
  /** Runs on every new connection, before any work. */
  readonly prepare?: (connection: Connection) => Promise<void>;
};

export function makeLink({ connect, outage, shown, first, prepare }: LinkOptions): Link {
  let closed = false;
  const open = async (given?: Connection): Promise<Connection> => {
    const connection = given ?? (await connect());
    connection.unref();
    await prepare?.(connection);
    return connection;
  };
  let current: Promise<Connection> | undefined = first && open(first);
  current?.catch(() => undefined); // the first use reports it
  const forget = (failed: Promise<Connection>): void => {
    if (current === failed) current = undefined;
    void failed.then((connection) => connection.close()).catch(() => undefined);
  };
  const attempt = async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
    current ??= open();
    const used = current;
    try {
      return await raceWithLeaving(used.then(work), outage.left);
    } catch (error) {
      if (outage.left.aborted) void used.then((connection) => connection.destroy()).catch(() => undefined);
      const connection = await raceWithLeaving(used, outage.left).catch(() => undefined);
      if (connection === undefined || connection.isLost() || isLostConnection(error)) forget(used);
      throw connection?.isLost() && !(error instanceof LedgerError) && !isLostConnection(error) ? lostMidway(error) : error;
    }
  };
  return {
    run: (work) =>
      keepAlive(async () => {
        for (;;) {
          if (closed) throw new LedgerError("store_unreachable", "The ledger is closed.");
          try {
            const result = await attempt(work);
            outage.end();
            return result;
          } catch (error) {
            if (!isLostConnection(error)) throw databaseError(error, shown);
            await outage.waitAfter(error);
          }
        }
      }),
    close: () =>
      keepAlive(async () => {
        closed = true;
        const last = current;
        current = undefined;
        await raceWithLeaving(last?.then((connection) => connection.close()) ?? Promise.resolve(), outage.left).catch(() => undefined);
      }),
  };
}

/** Ends a wait for a server that hangs, so that a person can leave. */
async function raceWithLeaving<T>(work: Promise<T>, left: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = (): void => reject(Object.assign(new Error("Connection terminated: no answer"), { code: "08006" }));
  if (left.aborted) leave();
  left.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    left.removeEventListener("abort", leave);
  }
}

/** An idle socket lets the process end, so waiting for the database must keep it alive. */
async function keepAlive<T>(work: () => Promise<T>): Promise<T> {
  const alive = setInterval(() => undefined, 60_000);
  try {
    return await work();
  } finally {
    clearInterval(alive);
  }
}

/** Gives all failures of a lost connection one code, because their texts differ. */
function lostMidway(error: unknown): Error {
  return Object.assign(new Error(`Connection terminated: ${reasonOf(error)}`), { code: "08006" });
}
