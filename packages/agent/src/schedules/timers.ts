import { type Clock, type EventBodies, type Ids, LedgerError, type Maybe, type ScheduleRow, type Session } from "@assent/core";
import { scheduleNotice } from "../notices/task-notice.ts";
import { dueBy, nextDue } from "./due-times.ts";

/** A schedule has fired. */
export type ScheduleFired = { readonly schedule: string; readonly due: string; readonly missed: number };

/** What schedules need. */
export type SchedulesDeps = {
  readonly session: Session;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Called when a notice is queued. */
  readonly wake: () => void;
  /** Expands a prompt before a model gets it. */
  readonly expand?: (prompt: string) => Maybe<string>;
  readonly observe?: (fired: ScheduleFired) => void;
  /** A fire could not be recorded. It is tried again if the store may recover; otherwise the schedule no longer fires in this process. */
  readonly failed?: (error: unknown) => void;
};

/** The wall clock may be set while a timer runs, so none runs for longer. */
const LONGEST_TIMER_MS = 15 * 60_000;
/** A store that is full or locked is tried again after this time. */
const RETRY_MS = 1_000;

/** The timers of the schedules of one session. */
export type Timers = {
  readonly arm: (id: string) => void;
  readonly disarm: (id: string) => void;
  /** Ends it, on record. */
  readonly drop: (id: string, why: EventBodies["schedule.removed"]["why"]) => Promise<void>;
  /** Looks whether it is due. Rejects where it is given up. */
  readonly tick: (id: string) => Promise<void>;
  readonly armed: () => readonly string[];
};

/** Creates the timers. None is armed yet. */
export function makeTimers(deps: SchedulesDeps): Timers {
  const { session, clock, failed, wake } = deps;
  const rows = session.state.schedules;
  const timers = new Map<string, () => void>();
  const fire = makeFiring(deps);
  const disarm = (id: string): void => {
    timers.get(id)?.();
    timers.delete(id);
  };
  const inTurn = makeTurns();
  const end = async (id: string, why: EventBodies["schedule.removed"]["why"]): Promise<void> => {
    if (rows.has(id)) await session.record([session.draft("schedule.removed", { schedule: id, why })], "normal");
    disarm(id);
  };
  const drop: Timers["drop"] = (id, why) => {
    disarm(id);
    return inTurn(id, () => end(id, why));
  };
  const ringIn = (ms: number, id: string): void => {
    disarm(id);
    timers.set(
      id,
      clock.timer(ms, () => void tick(id).catch((error: unknown) => failed?.(error))),
    );
  };
  const arm = (id: string): void => {
    const row = rows.get(id);
    const next = row && nextDue(row);
    if (next === undefined) disarm(id);
    else ringIn(Math.min(Math.max(next - clock.now(), 0), LONGEST_TIMER_MS), id);
  };
  const look = async (id: string): Promise<void> => {
    const row = rows.get(id);
    if (!row || !timers.has(id)) return;
    if (!whyOver(row, clock.now())) await fire(row);
    const why = whyOver(rows.get(id), clock.now());
    if (why) await end(id, why);
    if (timers.has(id)) arm(id);
    else wake(); // a run may wait for its end
  };
  /** Until it has ended or is given up it counts as armed: a run waits for it. */
  const giveUpUnlessPassing = (id: string, error: unknown): void => {
    if (!timers.has(id) || !isPassing(error)) {
      disarm(id);
      wake();
      throw error;
    }
    failed?.(error);
    ringIn(RETRY_MS, id);
  };
  const tick: Timers["tick"] = (id) => inTurn(id, () => look(id)).catch((error: unknown) => giveUpUnlessPassing(id, error));
  return { arm, disarm, drop, tick, armed: () => [...timers.keys()] };
}

/** Undefined: it fires again. */
export function whyOver(row: ScheduleRow | undefined, now: number): "expired" | "done" | undefined {
  if (row === undefined) return undefined;
  if (row.expiresAt !== null && now >= Date.parse(row.expiresAt)) return "expired";
  return nextDue(row) === undefined ? "done" : undefined;
}

function isPassing(error: unknown): boolean {
  return error instanceof LedgerError && (error.type === "store_full" || error.type === "store_locked");
}

/** What happens to one schedule happens one after the other: whoever ends it while it fires waits for the fire to be on record. */
function makeTurns(): (id: string, work: () => Promise<void>) => Promise<void> {
  const last = new Map<string, Promise<void>>();
  return async (id, work) => {
    const done = last.get(id)?.then(work, work) ?? work();
    last.set(id, done);
    try {
      await done;
    } finally {
      if (last.get(id) === done) last.delete(id);
    }
  };
}

/** One fire: on record for its own due time, which is never fired for again; told only where no earlier one still waits to be told. */
function makeFiring(deps: SchedulesDeps): (row: ScheduleRow) => Promise<void> {
  const { session, clock } = deps;
  const counted = new Map<string, number>();
  return async (row) => {
    const id = row.schedule;
    const found = dueBy(row, clock.now());
    if (!found) return;
    const slept = row.durable ? found.missed : 0;
    const due = new Date(found.due).toISOString();
    if (!isWaiting(session, id)) {
      counted.delete(id);
      await queueNotice(deps, row, { schedule: id, due, missed: slept });
      return;
    }
    const missed = (counted.get(id) ?? 0) + 1 + slept;
    const fired = { schedule: id, due, missed };
    await session.record([session.draft("schedule.fired", fired)], "normal");
    counted.set(id, missed);
    deps.observe?.(fired);
  };
}

function isWaiting({ state }: Session, id: string): boolean {
  return [...state.notices.values()].some(({ schedule }) => schedule === id);
}

async function queueNotice(
  { session, ids, expand, observe, wake }: SchedulesDeps,
  { prompt }: ScheduleRow,
  fired: ScheduleFired,
): Promise<void> {
  const modelText = (await expand?.(prompt)) ?? prompt;
  const notice = scheduleNotice(ids.next("n_"), { schedule: fired.schedule, prompt, modelText });
  await session.record([session.draft("schedule.fired", fired), session.draft("notice.queued", notice)], "normal");
  observe?.(fired);
  wake();
}
