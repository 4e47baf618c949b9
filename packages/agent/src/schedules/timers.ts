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
  readonly wake: () => void;
  /** Expands a prompt before a model gets it. */
  readonly expand?: (prompt: string) => Maybe<string>;
  readonly observe?: (fired: ScheduleFired) => void;
  /** A fire could not be recorded. It is tried again if the store may recover; otherwise the schedule no longer fires in this process. */
  readonly failed?: (error: unknown) => void;
};

/** Timers are short, because the wall clock may be set while one runs. */
const LONGEST_TIMER_MS = 15 * 60_000;
/** Wait before a full or locked store is tried again. */
const RETRY_MS = 1_000;

export type Timers = {
  readonly arm: (id: string) => void;
  readonly disarm: (id: string) => void;
  readonly drop: (id: string, why: EventBodies["schedule.removed"]["why"]) => Promise<void>;
  /** Fires the schedule if it is due. Rejects if the schedule is given up. */
  readonly tick: (id: string) => Promise<void>;
  readonly armed: () => readonly string[];
};

export function createTimers(deps: SchedulesDeps): Timers {
  const { session, clock, failed, wake } = deps;
  const rows = session.state.schedules;
  const timers = new Map<string, () => void>();
  const fire = createFiring(deps);
  const disarm = (id: string): void => {
    timers.get(id)?.();
    timers.delete(id);
  };
  const inTurn = createSerializer();
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
    if (!findEndReason(row, clock.now())) await fire(row);
    const why = findEndReason(rows.get(id), clock.now());
    if (why) await end(id, why);
    if (timers.has(id)) arm(id);
    else wake(); // a run may wait for the end of this schedule
  };
  /** Retries if the store may recover; otherwise gives the schedule up. Until then it counts as armed, so a run waits for it. */
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

/** Why a schedule ended; undefined if it fires again. */
export function findEndReason(row: ScheduleRow | undefined, now: number): "expired" | "done" | undefined {
  if (row === undefined) return undefined;
  if (row.expiresAt !== null && now >= Date.parse(row.expiresAt)) return "expired";
  return nextDue(row) === undefined ? "done" : undefined;
}

function isPassing(error: unknown): boolean {
  return error instanceof LedgerError && (error.type === "store_full" || error.type === "store_locked");
}

/** Serializes the work on each schedule, so that removing one waits until its fire is recorded. */
function createSerializer(): (id: string, work: () => Promise<void>) => Promise<void> {
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

/** Fires a schedule: records its due time, and queues a notice unless an earlier one is still queued. */
function createFiring(deps: SchedulesDeps): (row: ScheduleRow) => Promise<void> {
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
