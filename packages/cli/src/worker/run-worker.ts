import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { LedgerError, openSession, readRow, type Session, type SessionPorts, SHARED, type Subscription } from "@assent/core";
import { currentHolder } from "@assent/host";
import type { Context } from "../command-line/spec.ts";
import { warnOfSettingsFault } from "../compose/own-settings.ts";
import { isDirectory, readWorkspace } from "../compose/place.ts";
import { hostPortsFor } from "../compose/ports.ts";
import { continueSession } from "../headless/run/resume.ts";
import { cancelOnSignal } from "../io/cancel-on-signal.ts";
import { asFailure, isHeldElsewhere, usageError } from "../io/failure.ts";
import { printJson, warn } from "../io/output.ts";
import { oneLine } from "../io/visible-text.ts";
import { remindReceivers } from "../notify/reminder.ts";
import { withStore } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import { readLabelOptions } from "./label-options.ts";
import { closeDeadWorker, isRegistered, isSameProcess, registerWorker, type WorkerPlace } from "./registered-workers.ts";
import { labelsText } from "./requirements.ts";
import { sessionContext } from "./session-context.ts";
import { createSessionFinder, type FoundSession, isTemporary, type SessionFinder } from "./session-finder.ts";

export const DEFAULT_CONCURRENCY = 4;

/** `assent worker`: continues sessions that have work and that no process has open, until it is stopped. */
export async function runWorker(context: Context): Promise<number> {
  const place = readWorkerPlace(context);
  await warnOfSettingsFault(context.io);
  return withStore(context, async (store) => {
    const ports = hostPortsFor(context, store.directory);
    const stopping = cancelOnSignal(context.io, ports.clock, store.ledger);
    const reminding = remindReceivers(context, store, stopping.signal);
    try {
      return await continueSessions(context, { store, place, ports: { ledger: store.ledger, ...ports }, stopping: stopping.signal });
    } finally {
      stopping.release();
      stopping.cancel();
      await reminding;
    }
  });
}

function readWorkerPlace(context: Context): WorkerPlace {
  const { io, options } = context;
  const given = options.list("workspace").map((directory) => resolve(io.cwd, directory));
  const missing = given.find((directory) => !isDirectory(directory));
  if (missing !== undefined) throw usageError("worker", `option '--workspace' must be a directory, but '${missing}' is not.`);
  const workspaces = given.length > 0 ? given : [readWorkspace({ io, options: { ...options, text: () => undefined } })];
  return {
    workspaces: [...new Set(workspaces.flatMap((directory) => [directory, realpathSync(directory)]))],
    labels: readLabelOptions(context, "worker"),
    concurrency: options.count("concurrency") ?? DEFAULT_CONCURRENCY,
    cwd: io.cwd,
  };
}

type WorkerParts = {
  readonly store: Store;
  readonly place: WorkerPlace;
  readonly ports: SessionPorts;
  readonly stopping: AbortSignal;
};

/** The pause between two sweeps, which find what notifications missed. */
const SWEEP_MS = 2_000;
/** The pause is at least this many times as long as the last sweep took. */
const SWEEP_SHARE = 10;

/** Continues sessions that have work, until `stopping`. */
export async function continueSessions(context: Context, parts: WorkerParts): Promise<number> {
  const { ports, place, stopping } = parts;
  const { ledger, clock } = ports;
  const bell = makeBell(clock, stopping);
  const registration = await keepRegistered(ports, place);
  const finder = createSessionFinder({ ledger, clock, offer: place, holder: currentHolder("worker"), salt: registration.id() });
  const running = new Map<string, Promise<void>>();
  const hinted = new Set<string>();
  const hint = (id: string): void => {
    hinted.add(id);
    bell.ring();
  };
  const following = follow(ports, hint);
  const log = makeLog(context);
  await log.started(registration.id(), place);
  const queue = new Set<string>();
  const start = (found: FoundSession): void => {
    const { id } = found.row;
    const run = continueFound(context, parts, found, log).finally(() => {
      running.delete(id);
      hint(id); // an answer may have arrived while the session closed
    });
    running.set(id, run);
  };
  const examine = (id: string): Promise<FoundSession | undefined> =>
    finder
      .examine(id, (root) => running.has(root))
      .catch(async (error: unknown) => {
        if (isTemporary(error) || !(error instanceof LedgerError)) throw error;
        finder.skip(id);
        await log.failed(id, error.message);
        return undefined;
      });
  let sweepAt = 0; // on the monotonic clock
  while (!stopping.aborted) {
    const since = performance.now();
    try {
      following.keep();
      if (since >= sweepAt) {
        await registration.keep();
        await sweep(ports, finder, queue);
        sweepAt = performance.now() + Math.max(SWEEP_MS, (performance.now() - since) * SWEEP_SHARE);
      }
      while (running.size < place.concurrency && !stopping.aborted && performance.now() < sweepAt) {
        const id = takeFirst(hinted) ?? takeFirst(queue);
        if (id === undefined) break;
        const found = await examine(id);
        if (found) start(found);
      }
      log.reachable();
    } catch (error) {
      if (!isTemporary(error)) throw error;
      await log.unreachable(error);
      for (const ids of [hinted, queue]) ids.clear(); // the next sweep finds them again
      sweepAt = performance.now() + SWEEP_MS;
    }
    const isFull = running.size >= place.concurrency;
    if (isFull || hinted.size + queue.size === 0) await bell.wait(Math.max(0, sweepAt - performance.now()));
  }
  following.close();
  await log.stopping(running.size);
  await Promise.all(running.values());
  await registration.close();
  return 0;
}

function takeFirst(ids: Set<string>): string | undefined {
  const [first] = ids;
  if (first !== undefined) ids.delete(first);
  return first;
}

async function sweep(ports: SessionPorts, finder: SessionFinder, queue: Set<string>): Promise<void> {
  const { sessions, deadWorkers } = await finder.sweep();
  for (const id of sessions) queue.add(id);
  for (const id of deadWorkers) await closeDeadWorker(ports, id);
}

async function continueFound(
  context: Context,
  { store, ports, stopping }: WorkerParts,
  found: FoundSession,
  log: ReturnType<typeof makeLog>,
): Promise<void> {
  const { row, why } = found;
  await log.continues(row.id, why);
  try {
    await continueSession(sessionContext(context, found, stopping), store, row);
    const after = await readRow(store.ledger, "sessions", row.id);
    await log.left(row.id, after?.state ?? "done");
  } catch (error) {
    if (isHeldElsewhere(error)) return await log.left(row.id, "taken by another process");
    const failure = asFailure(error);
    await log.failed(row.id, failure.message);
    if (!isTemporary(error))
      await closeFailed(ports, row.id, failure).catch((closing: unknown) => log.failed(row.id, asFailure(closing).message));
  }
}

/** Closes the session of a failed run; otherwise this process would keep it open. */
async function closeFailed(
  ports: SessionPorts,
  id: string,
  { type, message }: { readonly type: string; readonly message: string },
): Promise<void> {
  const holder = currentHolder("worker");
  const row = await readRow(ports.ledger, "sessions", id);
  if (row?.state !== "running" || !isSameProcess(row.writer, holder)) return;
  const session = await openSession(ports, { holder, id, takeOver: true });
  const ended = session.draft("turn.ended", { turn: session.state.turn + 1, reason: "error", error: { type, message: oneLine(message) } });
  await session.record([ended], "normal");
  await session.close("failed", 1);
}

type Registration = { readonly id: () => string; readonly keep: () => Promise<void>; readonly close: () => Promise<void> };

/** Registers again if this process stood still for so long that another worker closed its session. */
async function keepRegistered(ports: SessionPorts, place: WorkerPlace): Promise<Registration> {
  let session: Session = await registerWorker(ports, place);
  return {
    id: () => session.id,
    keep: async () => {
      if (!(await isRegistered(session))) session = await registerWorker(ports, place);
    },
    close: () =>
      session.close("done", 0).catch((error: unknown) => {
        if (!(error instanceof LedgerError)) throw error; // its lease ends by itself
      }),
  };
}

type LedgerFollower = { readonly keep: () => void; readonly close: () => void };

const ANSWERS = ["approval.answered", "approval.closed", "question.answered", "proposal.requested"];

/** Reports sessions that were answered or handed back. Starts again after a failure. */
function follow({ ledger }: SessionPorts, hint: (session: string) => void): LedgerFollower {
  let subscription: Subscription | undefined;
  let pos: number | undefined;
  let starting: Promise<void> | undefined;
  let isClosed = false;
  const start = async (): Promise<void> => {
    pos ??= await ledger.head();
    if (isClosed) return;
    subscription = ledger.subscribe(
      { pos },
      { types: [...ANSWERS, "session.closed"] },
      (event) => {
        pos = event.pos;
        const named = event.body["session"];
        const isLeft = event.type === "session.closed" && ["queued", "parked"].includes(String(event.body["reason"]));
        if (isLeft) hint(event.session);
        else if (event.session === SHARED && typeof named === "string") hint(named);
      },
      () => {
        subscription = undefined;
        pos = undefined; // the sweep finds what was missed
      },
    );
  };
  return {
    keep: () => {
      if (subscription || starting) return;
      starting = start()
        .catch(() => undefined) // the sweep reports a failure that lasts
        .finally(() => {
          starting = undefined;
        });
    },
    close: () => {
      isClosed = true;
      subscription?.close();
    },
  };
}

type Bell = { readonly ring: () => void; readonly wait: (ms: number) => Promise<void> };

function makeBell(clock: SessionPorts["clock"], stopping: AbortSignal): Bell {
  let wake: (() => void) | undefined;
  let isRung = false;
  const ring = (): void => {
    isRung = true;
    wake?.();
  };
  stopping.addEventListener("abort", ring);
  return {
    ring,
    wait: async (ms) => {
      if (!isRung) {
        const { promise, resolve: rung } = Promise.withResolvers<void>();
        wake = rung;
        const cancel = clock.timer(ms, rung, { keepsAlive: true });
        await promise;
        cancel();
        wake = undefined;
      }
      isRung = false;
    },
  };
}

function makeLog({ io, options }: Context) {
  const json = options.flag("json");
  let isAway = false;
  const line = (text: string, form: object): Promise<void> =>
    json ? printJson(io, form) : options.flag("quiet") ? Promise.resolve() : io.stdout.write(`${oneLine(text)}\n`);
  return {
    started: (id: string, { workspaces, labels, concurrency }: WorkerPlace): Promise<void> => {
      const labeled = labelsText(labels);
      const text = `Worker ${id} takes up to ${concurrency} sessions at once in ${workspaces.join(", ")}${labeled && ` (${labeled})`}. Stop it with Ctrl-C.`;
      return line(text, { type: "started", workerId: id, workspaces, labels, concurrency });
    },
    continues: (id: string, why: string): Promise<void> => line(`${id}: continues (${why})`, { type: "continues", sessionId: id, why }),
    left: (id: string, state: string): Promise<void> => line(`${id}: ${state}`, { type: "left", sessionId: id, state }),
    failed: (id: string, message: string): Promise<void> => warn(io, `${id}: ${message}`),
    stopping: (count: number): Promise<void> =>
      line(count === 0 ? "Stopped." : `Stopping: ${count} ${count === 1 ? "session is" : "sessions are"} handed back.`, {
        type: "stopping",
        sessions: count,
      }),
    unreachable: async (error: unknown): Promise<void> => {
      if (!isAway) await warn(io, `${asFailure(error).message} The worker tries again by itself.`);
      isAway = true;
    },
    reachable: (): void => {
      isAway = false;
    },
  };
}
