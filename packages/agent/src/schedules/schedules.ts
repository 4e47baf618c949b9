import { type EventBodies, LedgerError, type RuntimeHandler, type ScheduleRow } from "@assent/core";
import { dueBy, nextDue } from "./due-times.ts";
import { type FiringDeps, makeFiring } from "./fire.ts";
import { scheduleHandlers } from "./handlers.ts";
import { isRefusal, readTiming, type ScheduleInput, type ScheduleRefusal } from "./input.ts";

/** What schedules stand on. */
export type SchedulesDeps = FiringDeps & {
  /** A fire could not be recorded. Where the store may recover it is tried again; else the schedule fires no more in this process. */
  readonly failed?: (error: unknown) => void;
};

/** Stored prompts that fire at given times, as notices of their session. */
export type Schedules = {
  readonly create: (input: ScheduleInput) => Promise<ScheduleRow | ScheduleRefusal>;
  readonly list: () => readonly ScheduleRow[];
  /** False: there is no such schedule. */
  readonly remove: (id: string) => Promise<boolean>;
  /** True while one is left that lives with this process: a run waits for it. */
  readonly holds: () => boolean;
  /** After a restart: those of a process that ended are removed; durable ones are armed again, and fire once for all they missed. */
  readonly restore: () => Promise<void>;
  /** Nothing fires any more. Those that live with the process are removed. */
  readonly stop: () => Promise<void>;
  readonly handlers: Readonly<Record<string, RuntimeHandler>>;
};

const MOST = 50;
const LIFE_MS = 7 * 24 * 3_600_000;

/** The schedules of one session. */
export function createSchedules(deps: SchedulesDeps): Schedules {
  const { session, clock, ids } = deps;
  const rows = session.state.schedules;
  const { arm, disarm, drop, tick, armed } = makeTimers(deps);
  const schedules: Omit<Schedules, "handlers"> = {
    create: async (input) => {
      const now = clock.now();
      const timing = readTiming(input, now);
      if (isRefusal(timing)) return timing;
      if (rows.size >= MOST) return { type: "schedule_limit", message: `There are ${MOST} schedules already. Delete one first.` };
      const { first, everyMs, recurring } = timing;
      const durable = input.durable ?? false;
      const expiresAt = recurring && !durable ? new Date(now + LIFE_MS).toISOString() : null;
      const due = new Date(first).toISOString();
      const body = { schedule: ids.next("c_"), due, everyMs, prompt: input.prompt, recurring, durable, expiresAt };
      await session.record([session.draft("schedule.created", body)], "normal");
      arm(body.schedule);
      return { ...body, lastDue: null };
    },
    list: () => [...rows.values()],
    remove: async (id) => {
      if (!rows.has(id)) return false;
      await drop(id, "deleted").catch((error: unknown) => {
        arm(id); // it is still there
        throw error;
      });
      return true;
    },
    holds: () => armed().some((id) => rows.get(id)?.durable === false),
    restore: async () => {
      for (const row of [...rows.values()]) {
        const { schedule, durable } = row;
        const why = durable ? whyOver(row, clock.now()) : "ended";
        if (why) await drop(schedule, why);
        else arm(schedule);
      }
      for (const row of [...rows.values()]) if (dueBy(row, clock.now())) await tick(row.schedule);
    },
    stop: async () => {
      for (const id of armed()) disarm(id);
      for (const { schedule, durable } of [...rows.values()]) if (!durable) await drop(schedule, "ended");
    },
  };
  return { ...schedules, handlers: scheduleHandlers(schedules) };
}

/** The wall clock may be set while a timer runs, so none runs for longer. */
const LONGEST_TIMER_MS = 15 * 60_000;
/** A store that is full or locked is tried again after this time. */
const RETRY_MS = 1_000;

type Timers = {
  readonly arm: (id: string) => void;
  readonly disarm: (id: string) => void;
  /** Ends it, on record. */
  readonly drop: (id: string, why: EventBodies["schedule.removed"]["why"]) => Promise<void>;
  /** Looks whether it is due. Rejects where it is given up. */
  readonly tick: (id: string) => Promise<void>;
  readonly armed: () => readonly string[];
};

function makeTimers(deps: SchedulesDeps): Timers {
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
function whyOver(row: ScheduleRow | undefined, now: number): "expired" | "done" | undefined {
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
