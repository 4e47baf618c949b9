import { type RuntimeHandler, type ScheduleRow, ToolError } from "@assent/core";
import { dueBy, nextDue } from "./due-times.ts";
import { isScheduleRefusal, readTiming, type ScheduleInput, type ScheduleRefusal } from "./input.ts";
import { makeTimers, type SchedulesDeps, whyOver } from "./timers.ts";

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
      if (isScheduleRefusal(timing)) return timing;
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

/** The bodies of the model's own tools for schedules. */
function scheduleHandlers({
  create,
  list,
  remove,
}: Pick<Schedules, "create" | "list" | "remove">): Readonly<Record<string, RuntimeHandler>> {
  return {
    schedule_create: async (_session, _call, { invocation: { input } }) => {
      // Parsing: the tool's own schema has accepted it.
      const made = await create(input as ScheduleInput);
      if (isScheduleRefusal(made)) throw new ToolError(made.message, made.type);
      return `Schedule ${made.schedule} fires ${whenOf(made)}.`;
    },
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

function whenOf(row: ScheduleRow): string {
  const next = nextDue(row);
  const first = next === undefined ? "never again" : `at ${new Date(next).toISOString()}`;
  return row.everyMs !== null && row.recurring ? `${first}, then every ${row.everyMs / 1_000} s` : `${first}, once`;
}

function lineOf(row: ScheduleRow): string {
  return `${row.schedule} ${whenOf(row)}${row.durable ? ", kept over restarts" : ""}: ${row.prompt}`;
}
