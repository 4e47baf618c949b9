import type { AnswerResult, WaitingRow } from "./desk.ts";

/** What the list is narrowed to; an empty text narrows nothing. */
export type Filter = { readonly agent: string; readonly tool: string; readonly directory: string; readonly text: string };

/** Narrows nothing. */
export const NO_FILTER: Filter = { agent: "", tool: "", directory: "", text: "" };

/** The rows that match a filter; every word of its text must occur. */
export function filterRows(rows: readonly WaitingRow[], { agent, tool, directory, text }: Filter): readonly WaitingRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(
    (row) =>
      (agent === "" || row.agent === agent) &&
      (tool === "" || row.tool === tool) &&
      (directory === "" || row.directory === directory) &&
      words.every((word) => searchText(row).includes(word)),
  );
}

function searchText({ id, subject, tool, agent, directory, sessionTitle, why }: WaitingRow): string {
  return [id, subject, tool, agent, directory, sessionTitle, why].join("\n").toLowerCase();
}

/** Rows of one session, in the order of the oldest of each. The calls of a guarded agent are sessions of their own, so `session` is null for them. */
export type RowGroup = {
  readonly key: string;
  readonly session: string | null;
  readonly title: string;
  readonly rows: readonly WaitingRow[];
};

/** Groups rows by session, or by the session of a guarded agent. */
export function groupRows(rows: readonly WaitingRow[]): readonly RowGroup[] {
  return [...Map.groupBy(rows, ({ group }) => group)].map(([key, inside]) => ({
    key,
    session: inside[0]?.session === key ? key : null,
    title: inside[0]?.sessionTitle ?? "",
    rows: inside,
  }));
}

/** The rows that match a filter, in the order in which the groups show them. */
export function listedRows(rows: readonly WaitingRow[], filter: Filter): readonly WaitingRow[] {
  return groupRows(filterRows(rows, filter)).flatMap((group) => group.rows);
}

/** The values a filter offers for one column, sorted. */
export function choicesOf(rows: readonly WaitingRow[], column: "agent" | "tool" | "directory"): readonly string[] {
  return [...new Set(rows.map((row) => row[column]))].sort();
}

/** The id `step` rows after the current one; the first or last row if there is none so far. */
export function moveTo(ids: readonly string[], current: string | undefined, step: 1 | -1): string | undefined {
  const at = current === undefined ? -1 : ids.indexOf(current);
  if (at === -1) return step === 1 ? ids[0] : ids.at(-1);
  return ids[Math.min(ids.length - 1, Math.max(0, at + step))];
}

/** Keeps only what still waits. */
export function stillThere(selected: ReadonlySet<string>, rows: readonly WaitingRow[]): ReadonlySet<string> {
  const ids = new Set(rows.map(({ id }) => id));
  return [...selected].every((id) => ids.has(id)) ? selected : new Set([...selected].filter((id) => ids.has(id)));
}

const GROUP_WORDS = {
  saved: "answers are saved.",
  "answered-before": "requests were answered before.",
  changed: "requests changed since you looked. Nothing was saved for them. Look at them again.",
} as const;

/** What to say about answers: more than three with the same result are one line. Refused answers keep their reasons. */
export function groupResults(results: readonly AnswerResult[]): readonly AnswerResult[] {
  return [...Map.groupBy(results, ({ result }) => result)].flatMap(([result, same]) =>
    result === "refused" || same.length <= 3 ? same : [{ id: result, result, message: `${same.length} ${GROUP_WORDS[result]}` }],
  );
}
