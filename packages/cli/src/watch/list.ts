import { groupRows, listedRows, moveTo, NO_FILTER, type RowGroup, type WaitingRow } from "@assent/inbox";
import { cut } from "../io/display-width.ts";
import { oneLine } from "../io/visible-text.ts";
import { ageText } from "../io/who.ts";
import type { Canvas, Key } from "../tui/draw/dialog.ts";
import { fieldLines, type TextField, textField, typeKey } from "../tui/input/text-field.ts";

export type WatchState = {
  readonly rows: readonly WaitingRow[];
  readonly current: string | undefined;
  readonly search: TextField;
  readonly isSearching: boolean;
  readonly isHelpOpen: boolean;
  readonly notice: string;
};

export const EMPTY_LIST: WatchState = {
  ...{ rows: [], current: undefined, search: textField(), isSearching: false, isHelpOpen: false },
  notice: "",
};

/** What a key leads to besides another state. */
export type WatchAct = { readonly open: string } | "leave" | undefined;

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["j, k", "next, previous; also arrow keys, and on a card"],
  ["y, n, e", "show the card; there the same key and Enter approve, reject or edit"],
  ["Enter", "show the card"],
  ["/", "search; Enter keeps it, Esc clears it"],
  ["Esc, ctrl+t", "from a card back to the list"],
  ["?", "these keys"],
  ["q", "leave; what waits stays open"],
];

function matchingRows({ rows, search }: Pick<WatchState, "rows" | "search">): readonly WaitingRow[] {
  return listedRows(rows, { ...NO_FILTER, text: search.text });
}

/** Takes over new rows. The current row stays, or the one that takes its place becomes current. */
export function withRows(state: WatchState, rows: readonly WaitingRow[]): WatchState {
  const before = matchingRows(state).findIndex(({ id }) => id === state.current);
  const now = matchingRows({ ...state, rows });
  const isThere = now.some(({ id }) => id === state.current);
  const current = isThere ? state.current : now[Math.min(Math.max(before, 0), now.length - 1)]?.id;
  return { ...state, rows, current };
}

/** The line above a card: which of the rows it is, and whose. */
export function placeLine(state: WatchState, id: string): string {
  const listed = matchingRows(state);
  const row = listed.find((one) => one.id === id);
  const owner = row ? groupName(groupRows([row])[0], MOST_TITLE) : "";
  const place = `${listed.findIndex((one) => one.id === id) + 1} of ${listed.length}`;
  return [place, ...(owner === "" ? [] : [owner]), "j/k next, previous", "Esc or ctrl+t back to the list"].join(" · ");
}

const MOST_TITLE = 30;

/** The session and its agent, or the guarded agent alone. A long title leaves room for the agent. */
function groupName(group: RowGroup | undefined, columns: number): string {
  const title = group?.session === null ? [] : [cut(oneLine(group?.title ?? ""), columns)];
  return [...title, oneLine(group?.rows[0]?.agent ?? "")].join(" · ");
}

export function stepTo(state: WatchState, step: 1 | -1): string | undefined {
  return moveTo(
    matchingRows(state).map(({ id }) => id),
    state.current,
    step,
  );
}

const OPENING: readonly string[] = ["enter", "y", "n", "e"];
const LEAVING: readonly string[] = ["q", "ctrl+c", "ctrl+d"];
const STEPS: Readonly<Record<string, 1 | -1>> = { j: 1, down: 1, k: -1, up: -1 };

export function pressList(state: WatchState, key: Key): { readonly state: WatchState; readonly act: WatchAct } {
  const next = (change: Partial<WatchState>, act?: WatchAct): { readonly state: WatchState; readonly act: WatchAct } => ({
    state: { ...state, notice: "", ...change },
    act,
  });
  const name = "name" in key ? key.name : "";
  if (state.isSearching && name !== "ctrl+c") {
    if (name === "enter") return next({ isSearching: false });
    if (name === "escape") return next(withRows({ ...state, isSearching: false, search: textField() }, state.rows));
    const search = typeKey(state.search, key) ?? state.search;
    return next(withRows({ ...state, search }, state.rows));
  }
  const step = STEPS[name];
  if (step !== undefined) return next({ current: stepTo(state, step) });
  if (OPENING.includes(name) && state.current !== undefined) return next({}, { open: state.current });
  if (name === "/") return next({ isSearching: true, isHelpOpen: false });
  if (name === "?") return next({ isHelpOpen: !state.isHelpOpen });
  if (name === "escape") return next(withRows({ ...state, isHelpOpen: false, search: textField() }, state.rows));
  return LEAVING.includes(name) ? next({}, "leave") : next({});
}

/** Draws the list, exactly as high as the canvas. */
export function listLines(state: WatchState, canvas: Canvas, now: number): readonly string[] {
  const { columns, rows, theme } = canvas;
  const listed = matchingRows(state);
  const all = state.rows.length;
  const count = listed.length === all ? `${all} waiting` : `${listed.length} of ${all} waiting match '${oneLine(state.search.text)}'`;
  const head = theme.title(cut(all === 0 ? "Nothing waits for an answer" : count, columns));
  const foot = [
    ...(state.isSearching ? fieldLines(state.search, columns, 1) : []),
    ...(state.notice === "" ? [] : [theme.notice(cut(oneLine(state.notice), columns))]),
    theme.dim(cut("j/k move · y show and answer · / search · ? keys · q leave", columns)),
  ];
  const body = state.isHelpOpen
    ? KEYS.map(([keys, does]) => ({ text: cut(`  ${keys.padEnd(12)} ${does}`, columns) }))
    : bodyOf(state, canvas, now);
  const room = Math.max(1, rows - 2 - foot.length);
  const current = Math.max(
    0,
    body.findIndex((line) => "current" in line),
  );
  const from = Math.max(0, Math.min(current - Math.floor(room / 2), body.length - room));
  const shown = body.slice(from, from + room).map(({ text }) => text);
  return [head, "", ...shown, ...Array.from({ length: room - shown.length }, () => ""), ...foot].slice(0, rows);
}

type BodyLine = { readonly text: string; readonly current?: true };

function bodyOf(state: WatchState, { columns, theme }: Canvas, now: number): readonly BodyLine[] {
  return groupRows(matchingRows(state)).flatMap((group): readonly BodyLine[] => [
    { text: theme.accent(cut(`${groupName(group, Math.floor(columns / 2))} · ${oneLine(group.rows[0]?.directory ?? "")}`, columns)) },
    ...group.rows.flatMap((row): readonly BodyLine[] => {
      const line = cut(
        `${row.id === state.current ? "❯" : " "} ${ageText(row.since, now).padEnd(7)} ${row.tool}  ${oneLine(row.subject)}`,
        columns,
      );
      if (row.id !== state.current) return [{ text: line }];
      const about = cut(`    ${oneLine([row.id, row.mode, row.why].join(" · "))}`, columns);
      return [{ text: theme.selected(line), current: true }, { text: theme.dim(about) }];
    }),
  ]);
}
