import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isScheduleRefusal, readScheduleEntry, type Schedules } from "@assent/agent";
import type { Context } from "../../command-line/spec.ts";
import { CommandError, fileProblem, usageError } from "../../io/failure.ts";

export type ScheduleEntry = Exclude<ReturnType<typeof readScheduleEntry>, string>;

/** Reads the file of `--schedule`: a JSON list of `{ at | every, prompt, recurring?, durable? }`. */
export async function scheduleEntries({ io, options, overrides }: Context, command: string): Promise<readonly ScheduleEntry[]> {
  const file = options.text("schedule");
  if (file === undefined) return [];
  let list: unknown;
  try {
    list = JSON.parse(await readFile(resolve(io.cwd, file), "utf8"));
  } catch (error) {
    throw usageError(command, `cannot read the schedules in '${file}': ${fileProblem(error)}`);
  }
  if (!Array.isArray(list)) throw usageError(command, `the schedules in '${file}' must be a list.`);
  return list.map((entry: unknown, at) => {
    const read = readScheduleEntry(entry, overrides.clock?.now() ?? Date.now());
    if (typeof read === "string") throw usageError(command, `schedule ${at + 1} in '${file}': ${read}`);
    return read;
  });
}

export async function armSchedules(schedules: Schedules, entries: readonly ScheduleEntry[]): Promise<void> {
  for (const entry of entries) {
    const made = await schedules.create(entry);
    if (isScheduleRefusal(made)) throw new CommandError(made.type, 1, { message: made.message });
  }
}
