import { type Ledger, readRow, type SessionRow } from "@assent/core";
import { createSystemClock } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { withTimer } from "../../compose/keep-alive.ts";
import { isHeldElsewhere } from "../../io/failure.ts";
import type { Store } from "../../store/store.ts";
import { readReadiness } from "../../worker/readiness.ts";

/** The exit code of a run that left something open for a person. */
export const PARKED = 75;

/** Waits while the session waits for a person, and continues it after each answer, as another process may. Ctrl-C leaves it parked. */
export async function continueWhileParked(
  context: Context,
  store: Store,
  { id, exit: first, again }: { readonly id: string; readonly exit: number; readonly again: () => Promise<number> },
): Promise<number> {
  let exit = first;
  while (exit === PARKED) {
    const next = await waitUntilReady(context, store.ledger, id);
    if (next === "stopped") return PARKED;
    if (next === "ended") return await reportEnd(context, store.ledger, id);
    try {
      exit = await again();
    } catch (error) {
      if (!isHeldElsewhere(error)) throw error;
    }
  }
  return exit;
}

/** The exit code that the other process recorded. */
async function reportEnd({ io }: Context, ledger: Ledger, id: string): Promise<number> {
  await io.stderr.write(`Another process continued the session to its end. See: assent log ${id}\n`);
  let exit = 1; // it was pruned
  for await (const { body } of ledger.read({ session: id, seq: 0 }, { session: id, types: ["session.closed"] }))
    exit = Number(body["exit"]);
  return exit;
}

const OVER: readonly SessionRow["state"][] = ["done", "failed", "cancelled"];

/** `ended`: another process continued the session to its end. */
async function waitUntilReady({ io, overrides }: Context, ledger: Ledger, id: string): Promise<"ready" | "ended" | "stopped"> {
  const clock = overrides.clock ?? createSystemClock();
  const { promise, resolve, reject } = Promise.withResolvers<"ready" | "ended" | "stopped">();
  let looking: Promise<void> | undefined;
  let cancelTimer = (): void => undefined;
  let isTold = false;
  const look = async (): Promise<void> => {
    const row = await readRow(ledger, "sessions", id);
    if (!row || OVER.includes(row.state)) return resolve("ended");
    if (row.state === "running") return;
    const { why, next } = await readReadiness(ledger, row, clock.now());
    if (why !== undefined) return resolve("ready");
    if (!isTold) await io.stderr.write(`Waiting for an answer. See: assent approvals --session ${id}\n`);
    isTold = true;
    cancelTimer();
    if (next !== undefined) cancelTimer = clock.timer(Math.max(0, next - clock.now()), lookAgain);
  };
  const lookAgain = (): void => {
    looking = (looking ?? Promise.resolve()).then(look).catch(reject);
  };
  const from = await ledger.head();
  const subscription = ledger.subscribe({ pos: from }, { naming: id }, lookAgain, reject);
  const own = ledger.subscribe({ pos: from }, { session: id }, lookAgain, reject);
  const offSignal = io.onSignal(() => resolve("stopped"));
  lookAgain();
  try {
    return await withTimer(() => promise);
  } finally {
    cancelTimer();
    subscription.close();
    own.close();
    offSignal();
    await looking?.catch(() => undefined);
  }
}
