export type Recurrence = {
  readonly due: string;
  readonly everyMs: number | null;
  readonly recurring: boolean;
  readonly lastDue: string | null;
};

/** The next time to fire; undefined if there is none. */
export function nextDue({ due, everyMs, recurring, lastDue }: Recurrence): number | undefined {
  if (lastDue === null) return Date.parse(due);
  return everyMs === null || !recurring ? undefined : Date.parse(lastDue) + everyMs;
}

/** The newest due time, and how many before it were missed. */
export function dueBy(recurrence: Recurrence, now: number): { readonly due: number; readonly missed: number } | undefined {
  const next = nextDue(recurrence);
  if (next === undefined || next > now) return undefined;
  const { everyMs, recurring } = recurrence;
  if (everyMs === null || !recurring) return { due: next, missed: 0 };
  const missed = Math.floor((now - next) / everyMs);
  return { due: next + missed * everyMs, missed };
}
