import { setImmediate } from "node:timers/promises";
import { type Clock, type Ledger, LedgerError } from "@assent/core";
import type { Context } from "../command-line/spec.ts";
import { withTimer } from "../compose/keep-alive.ts";
import { hostPortsFor } from "../compose/ports.ts";
import { warn } from "../io/output.ts";
import type { Store } from "../store/store.ts";
import { type AuditTarget, openTargets } from "./stream.ts";

/** Gathers events before sending, so that a busy run does not send each one alone. */
const GATHER_MS = 1_000;
/** How long the end of a program waits for a destination that answers. */
const LEAVE_MS = 2_000;
/** After these, a destination is tried again; the last one repeats. */
const RETRY_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000];
/** In case a commit was not noticed. */
const SWEEP_MS = 30_000;
const TRY_LOCK_MS = 50;

/** A stream that runs beside the program's work. */
export type AuditStream = {
  /** Waits for `others`, which may still record events, and sends the rest, except to a destination that is down. Both take at most two seconds in all. */
  readonly close: (others?: Promise<void>) => Promise<void>;
};

/** Sends events to all destinations of the settings until it is closed. Nothing that happens here delays or stops the program's work. */
export function startAudit(context: Context, store: Store): AuditStream {
  const { clock } = hostPortsFor(context, store.directory);
  const targets = openTargets(context, store, clock);
  const closing = new AbortController();
  const leaving = new AbortController();
  const problems = new Map<AuditTarget, string>();
  const report = (target: AuditTarget, problem: string | undefined): void => {
    const isNew = problem !== undefined && !problems.has(target);
    if (problem === undefined) problems.delete(target);
    else problems.set(target, problem);
    if (isNew && context.streams === "aloud" && !closing.signal.aborted) void warn(context.io, problemText(target, problem));
  };
  const parts = { ledger: store.ledger, clock, closing: closing.signal, leaving: leaving.signal, report };
  const pumps = targets.map((target) => pump(target, parts));
  return {
    close: (others) =>
      withTimer(async () => {
        const cancel = clock.timer(LEAVE_MS, () => leaving.abort());
        await others;
        closing.abort();
        await Promise.all(pumps);
        cancel();
        for (const target of targets) target.close();
        for (const [target, problem] of problems) await warn(context.io, problemText(target, problem));
      }),
  };
}

function problemText({ name }: AuditTarget, problem: string): string {
  return `The audit stream does not reach ${name}: ${problem}. Unsent events are sent later; see assent audit.`;
}

type PumpParts = {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly closing: AbortSignal;
  readonly leaving: AbortSignal;
  readonly report: (target: AuditTarget, problem: string | undefined) => void;
};

async function pump(target: AuditTarget, { ledger, clock, closing, leaving, report }: PumpParts): Promise<void> {
  let failures = 0;
  await pause(clock, GATHER_MS, closing);
  if (closing.aborted && wasDown(target, clock)) return; // short programs do not wait for it one after the other
  while (!leaving.aborted) {
    const result = await target.send(leaving);
    if (typeof result === "object") {
      report(target, result.problem);
      await pause(clock, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 0, closing);
      if (closing.aborted) return; // it is down, so the end does not wait for it
      failures += 1;
      continue;
    }
    if (result !== "busy") {
      failures = 0;
      report(target, undefined);
    }
    if (result === "sent") {
      await setImmediate(); // lets the program do its own work during a long backlog, and lets `leaving` abort
      continue;
    }
    if (closing.aborted && result === "all sent") return;
    if (closing.aborted) await pause(clock, TRY_LOCK_MS, leaving);
    else if (result === "all sent") await untilMore(ledger, target.state().pos, clock, closing);
    if (!closing.aborted) await pause(clock, GATHER_MS, closing);
  }
}

const DOWN_MS = 60_000;

/** True if a process tried in vain a short time ago. */
function wasDown(target: AuditTarget, clock: Clock): boolean {
  try {
    const { problem } = target.state();
    return problem !== undefined && Math.abs(clock.now() - Date.parse(problem.triedAt)) < DOWN_MS;
  } catch (_unreadable) {
    return false; // sending reports it
  }
}

/** Resolves after the next commit behind `pos`. */
async function untilMore(ledger: Ledger, pos: number, clock: Clock, until: AbortSignal): Promise<void> {
  const more = new AbortController();
  const wake = (): void => more.abort();
  let close = wake;
  try {
    ({ close } = ledger.subscribe({ pos }, {}, wake, () => undefined));
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error; // the sweep looks again
  }
  await pause(clock, SWEEP_MS, AbortSignal.any([until, more.signal]));
  close();
}

function pause(clock: Clock, ms: number, until: AbortSignal): Promise<void> {
  if (until.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const cancel = clock.timer(ms, resolve);
    until.addEventListener(
      "abort",
      () => {
        cancel();
        resolve();
      },
      { once: true },
    );
  });
}
