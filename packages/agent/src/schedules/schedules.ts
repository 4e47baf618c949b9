import { type JsonObject, type RuntimeHandler, type ScheduleRow, type Session, ToolError } from "@assent/core";
import { dueBy, nextDue } from "./due-times.ts";
import { isScheduleRefusal, readTiming, type ScheduleInput, type ScheduleRefusal, type Timing } from "./input.ts";
import { createTimers, findEndReason, type SchedulesDeps } from "./timers.ts";

/** Stored prompts that fire at given times, as notices of their session. */
export type Schedules = {
  readonly create: (input: ScheduleInput) => Promise<ScheduleRow | ScheduleRefusal>;
  readonly list: () => readonly ScheduleRow[];
  /** Returns false if there is no such schedule. */
  readonly remove: (id: string) => Promise<boolean>;
  /** True while a schedule of this process is left. A run waits for it. */
  readonly holds: () => boolean;
  /** After a restart: removes schedules of the ended process, arms durable ones, and fires those once that were missed. */
  readonly restore: () => Promise<void>;
  /** Stops all schedules, and removes those that belong to this process. */
  readonly stop: () => Promise<void>;
  readonly handlers: Readonly<Record<string, RuntimeHandler>>;
};

const MOST = 50;
const LIFE_MS = 7 * 24 * 3_600_000;

/** Creates the schedules of a session. */
export function createSchedules(deps: SchedulesDeps): Schedules {
  const { session, clock, ids } = deps;
  const rows = session.state.schedules;
  const { arm, disarm, drop, tick, armed } = createTimers(deps);
  const timingOf = (input: ScheduleInput, now: number): Timing | ScheduleRefusal => {
    if (rows.size >= MOST) return { type: "schedule_limit", message: `There are ${MOST} schedules already. Delete one first.` };
    return readTiming(input, now);
  };
  const schedules: Omit<Schedules, "handlers"> = {
    create: async (input) => {
      const now = clock.now();
      const timing = timingOf(input, now);
      if (isScheduleRefusal(timing)) return timing;
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
        arm(id); // it still exists
        throw error;
      });
      return true;
    },
    holds: () => armed().some((id) => rows.get(id)?.durable === false),
    restore: async () => {
      for (const row of [...rows.values()]) {
        const { schedule, durable } = row;
        const why = durable ? findEndReason(row, clock.now()) : "ended";
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
  return { ...schedules, handlers: scheduleHandlers({ ...schedules, check: (input) => timingOf(input, clock.now()) }) };
}

/** Implements the model's schedule tools. */
function scheduleHandlers({ check, create, list, remove }: HandledSchedules): Readonly<Record<string, RuntimeHandler>> {
  // The tool's schema has validated the input.
  const createByModel: RuntimeHandler = async (_session, _call, { invocation: { input } }) => {
    const made = throwRefusal(await create(input as ScheduleInput));
    return `Schedule ${made.schedule} fires ${whenOf(made)}.`;
  };
  return {
    schedule_create: Object.assign(createByModel, {
      refuse: (_: Session, input: JsonObject) => void throwRefusal(check(input as ScheduleInput)),
    }),
    schedule_list: async () => {
      const rows = list();
      return rows.length === 0 ? "There are no schedules." : rows.map(lineOf).join("\n");
    },
    schedule_delete: async (_session, _call, { invocation: { input } }) => {
      const id = String(input["id"]);
      if (await remove(id)) return `Schedule ${id} is deleted.`;
      throw new ToolError(`No schedule "${id}".`, "schedule_invalid");
    },
  };
}

type HandledSchedules = Pick<Schedules, "create" | "list" | "remove"> & {
  readonly check: (input: ScheduleInput) => Timing | ScheduleRefusal;
};

function throwRefusal<T extends object>(made: T | ScheduleRefusal): T {
  if (isScheduleRefusal(made)) throw new ToolError(made.message, made.type);
  return made;
}

function whenOf(row: ScheduleRow): string {
  const next = nextDue(row);
  const first = next === undefined ? "never again" : `at ${new Date(next).toISOString()}`;
  return row.everyMs !== null && row.recurring ? `${first}, then every ${row.everyMs / 1_000} s` : `${first}, once`;
}

function lineOf(row: ScheduleRow): string {
  return `${row.schedule} ${whenOf(row)}${row.durable ? ", kept across restarts" : ""}: ${row.prompt}`;
}
