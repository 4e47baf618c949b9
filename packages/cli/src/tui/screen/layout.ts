import type { TaskView } from "@assent/agent";
import { oneLine } from "@assent/core";
import { cut, displayWidth } from "../../io/display-width.ts";
import type { Canvas } from "../draw/dialog.ts";
import type { Block } from "../transcript/block.ts";
import { drawBlock, needsGap } from "../transcript/draw-block.ts";
import { todoLines } from "../transcript/draw-display.ts";
import type { Drawing } from "../transcript/drawing.ts";
import { describePause } from "../transcript/task-ends.ts";
import type { Todos } from "../transcript/transcript.ts";
import { type Status, statusLine } from "./status-line.ts";

export type ScreenContent = {
  readonly live: readonly Block[];
  /** The last settled block. */
  readonly last: Block | undefined;
  readonly todos: Todos;
  readonly tasks: readonly TaskView[];
  readonly queued: readonly string[];
  /** When the model started working, in milliseconds. */
  readonly busySince: number | undefined;
  readonly status: Status;
  readonly hint: string;
  /** Draws the front card or the prompt. */
  readonly below: (canvas: Canvas) => readonly string[];
};

/** Draws blocks with gaps; `callRows` limits each call. */
export function blockLines(
  blocks: readonly Block[],
  before: Block | undefined,
  drawing: Drawing & { readonly callRows?: number },
): readonly string[] {
  const { callRows } = drawing;
  let last = before;
  return blocks.flatMap((block) => {
    const gap = needsGap(last, block) ? [""] : [];
    last = block;
    const lines = drawBlock(block, drawing);
    return [...gap, ...(block.type === "call" ? lines.slice(0, callRows) : lines)];
  });
}

const LEAST_LIVE = 3;
/** With fewer rows, panels are left out. */
const LEAST_PANEL = 7;

/** Draws the live part of the screen, at most as many rows as there are. */
export function screenLines(state: ScreenContent, drawing: Drawing): readonly string[] {
  const { columns, rows, theme, now } = drawing;
  const { busySince, status, hint } = state;
  const foot = [...(hint === "" ? [] : [theme.warning(` ${cut(hint, columns - 1)}`)]), statusLine(status, drawing)];
  const below = state.below({ columns, theme, rows: Math.max(rows - foot.length - LEAST_LIVE, 3) });
  const panel = [...todoPanel(state.todos, drawing), ...taskPanel(state.tasks, drawing, now), ...queueLines(state.queued, drawing)];
  const working =
    busySince === undefined || status.waiting > 0 ? [] : [theme.accent(`» working ${Math.round((now - busySince) / 1_000)} s`)];
  const room = rows - foot.length - below.length;
  const middle = room < LEAST_PANEL ? [] : [...panel, ...working].slice(0, room - LEAST_LIVE);
  const live = liveRows(state, drawing, Math.max(0, room - middle.length - 1));
  const between = live.length > 0 && middle.length > 0 && room - middle.length - live.length > 1 ? [""] : [];
  const [first] = state.live;
  const gap = first && live.length > 0 && !needsGap(state.last, first) ? [] : [""];
  return [...gap, ...live, ...between, ...middle, ...below, ...foot].slice(-rows);
}

/** Draws open blocks; if they do not fit, calls get fewer rows, then only the newest rows remain. */
function liveRows({ live, last }: ScreenContent, drawing: Drawing, room: number): readonly string[] {
  const newest = live.slice(-MOST_LIVE);
  const rows = (each: number): readonly string[] => {
    const lines = blockLines(newest, last, { ...drawing, callRows: each });
    return lines[0] === "" ? lines.slice(1) : lines;
  };
  const shown = CALL_ROWS.map(rows).find((lines) => lines.length <= room);
  return shown ?? rows(1).slice(-room);
}

const CALL_ROWS = [Number.POSITIVE_INFINITY, 2, 1] as const;
const MOST_LIVE = 40;

function todoPanel(todos: Todos, drawing: Drawing): readonly string[] {
  if (todos.length === 0 || todos.every(({ status }) => status === "completed")) return [];
  const open = todos.filter(({ status }) => status !== "completed");
  const done = todos.length - open.length;
  const lines = todoLines(open.slice(0, MOST_TODOS), { ...drawing, columns: drawing.columns - 2 }).map((line) => `  ${line}`);
  const more = open.length > MOST_TODOS ? [drawing.theme.dim(`  … ${open.length - MOST_TODOS} more`)] : [];
  return [drawing.theme.dim(`To do (${done} of ${todos.length} done)`), ...lines, ...more];
}

const MOST_TODOS = 5;
const MOST_QUEUED = 3;

function queueLines(queued: readonly string[], { columns, theme }: Drawing): readonly string[] {
  const lines = queued.slice(0, MOST_QUEUED).map((text) => theme.dim(cut(`queued: ${oneLine(text.slice(0, 500))}`, columns)));
  return queued.length > MOST_QUEUED ? [...lines, theme.dim(`… ${queued.length - MOST_QUEUED} more queued`)] : lines;
}

const MOST_TASKS = 4;

/** Draws running and paused background tasks, one line each. */
export function taskPanel(tasks: readonly TaskView[], { columns, theme }: Canvas, now: number): readonly string[] {
  const open = tasks.filter(({ status, foreground }) => !foreground && ["running", "cancelling", "paused"].includes(status));
  const lines = open.slice(0, MOST_TASKS).map(({ id, agent, description, status, startedAt, usage, blockedReason, outputFile }) => {
    const since = Math.max(0, Math.round((now - Date.parse(startedAt)) / 1_000));
    const state = status === "paused" ? `paused${blockedReason ? `: ${describePause(blockedReason)}` : ""}` : `${status} ${since} s`;
    const done = outputFile === undefined ? ` · ${usage.toolUses} calls` : "";
    const end = oneLine(`  ${state}${done} · ${id}`);
    const what = cut(oneLine(`${agent}: ${description}`), Math.max(1, columns - 2 - displayWidth(end)));
    return `${theme.notice("●")} ${theme.dim(cut(`${what}${end}`, columns - 2))}`;
  });
  return open.length > MOST_TASKS ? [...lines, theme.dim(`  … ${open.length - MOST_TASKS} more: /tasks`)] : lines;
}
