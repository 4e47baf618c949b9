/** What of a schedule tells when it is due. */
export type Recurrence = {
  readonly due: string;
  readonly everyMs: number | null;
  readonly recurring: boolean;
  readonly lastDue: string | null;
};

/** The next moment that has not been fired for; undefined: there is none. */
export function nextDue({ due, everyMs, recurring, lastDue }: Recurrence): number | undefined {
  if (lastDue === null) return Date.parse(due);
  return everyMs === null || !recurring ? undefined : Date.parse(lastDue) + everyMs;
}

/** The newest moment that is due by now, and how many before it nobody was told of. */
export function dueBy(recurrence: Recurrence, now: number): { readonly due: number; readonly missed: number } | undefined {
  const next = nextDue(recurrence);
  if (next === undefined || next > now) return undefined;
  const { everyMs, recurring } = recurrence;
  if (everyMs === null || !recurring) return { due: next, missed: 0 };
  const missed = Math.floor((now - next) / everyMs);
  return { due: next + missed * everyMs, missed };
}
