import type { Clock, Ids, Maybe, ScheduleRow, Session } from "@assent/core";
import { scheduleNotice } from "../notices/task-notice.ts";
import { dueBy } from "./due-times.ts";

/** A schedule has fired. */
export type ScheduleFired = { readonly schedule: string; readonly due: string; readonly missed: number };

/** What firing needs. */
export type FiringDeps = {
  readonly session: Session;
  readonly clock: Clock;
  readonly ids: Ids;
  /** A notice is queued. */
  readonly wake: () => void;
  /** What a person's prompt goes through before a model gets it; absent: nothing. */
  readonly expand?: (prompt: string) => Maybe<string>;
  readonly observe?: (fired: ScheduleFired) => void;
};

/** One fire: on record for its own due time, which is never fired for again; told only where no earlier one still waits to be told. */
export function makeFiring(deps: FiringDeps): (row: ScheduleRow) => Promise<void> {
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
      await tell(deps, row, { schedule: id, due, missed: slept });
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

async function tell({ session, ids, expand, observe, wake }: FiringDeps, { prompt }: ScheduleRow, fired: ScheduleFired): Promise<void> {
  const modelText = (await expand?.(prompt)) ?? prompt;
  const notice = scheduleNotice(ids.next("n_"), { schedule: fired.schedule, prompt, modelText });
  await session.record([session.draft("schedule.fired", fired), session.draft("notice.queued", notice)], "normal");
  observe?.(fired);
  wake();
}
