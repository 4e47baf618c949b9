import { type Display, visible } from "@assent/core";
import { parseDiff } from "@assent/core/parts";
import { wrap, wrapWords } from "../../io/display-width.ts";
import { readable } from "../../io/visible-text.ts";
import { drawDiffItem, SPLIT_COLUMNS } from "../diff/draw.ts";
import { diffItems } from "../diff/items.ts";
import { drawAnsi } from "../draw/ansi.ts";
import type { Drawing } from "./drawing.ts";

export type Part = { readonly lines: readonly string[]; readonly hidden: number };

export type Cut = { readonly rows: number; readonly keep: "head" | "tail" };

const NOTHING: Part = { lines: [], hidden: 0 };

export function drawDisplay(display: Display, drawing: Drawing, cut: Cut): Part {
  if (typeof display === "string") return drawText(display, drawing, cut);
  switch (display.type) {
    case "ansi_output": {
      const { ansiOutput: lines } = display;
      const kept = cut.keep === "tail" ? lines.slice(-cut.rows) : lines.slice(0, cut.rows);
      return { lines: kept.map((runs) => drawAnsi(runs, drawing)), hidden: lines.length - kept.length };
    }
    case "file_diff":
      return drawDiff(display.fileDiff, drawing, cut);
    case "todo_list":
      return { lines: todoLines(display.todos, drawing), hidden: 0 };
    case "plan_summary":
      return drawMarkdown(display.plan, drawing, cut);
    case "tool_progress":
      return { lines: [progressLine(display, drawing)], hidden: 0 };
    case "task_execution":
      return drawAgent(display, drawing, cut);
    default:
      return NOTHING;
  }
}

/** Draws markdown with control characters escaped. */
export function drawMarkdown(text: string, drawing: Drawing, cut: Cut): Part {
  return cutRows(drawing.markdown(visible(text), drawing.columns), cut);
}

function cutRows(rows: readonly string[], { rows: most, keep }: Cut): Part {
  const lines = keep === "tail" ? rows.slice(-most) : rows.slice(0, most);
  return { lines, hidden: rows.length - lines.length };
}

/** Draws text of any length; only visible lines are wrapped. */
export function drawText(text: string, { columns }: Drawing, cut: Cut): Part {
  const lines = text.replace(/\n$/, "").split("\n");
  const kept = cut.keep === "tail" ? lines.slice(-cut.rows) : lines.slice(0, cut.rows);
  const rows = kept.flatMap((line) => wrapWords(readable(line.slice(0, LONGEST_LINE)), columns));
  const { lines: shown, hidden } = cutRows(rows, cut);
  return { lines: shown, hidden: lines.length - kept.length + hidden };
}

const LONGEST_LINE = 4_000;

function drawDiff(text: string, drawing: Drawing, { rows }: Cut): Part {
  const items = diffItems(parseDiff(text), { split: drawing.columns >= SPLIT_COLUMNS, folded: new Set() });
  const lines: string[] = [];
  let at = 0;
  for (; at < items.length && lines.length < rows; at += 1) {
    const item = items[at];
    if (item) lines.push(...drawDiffItem(item, drawing));
  }
  return { lines: lines.slice(0, rows), hidden: items.length - at };
}

const BOXES = { pending: "[ ]", in_progress: "[>]", completed: "[x]" } as const;

export function todoLines(
  todos: readonly { readonly id: string; readonly content: string; readonly status: keyof typeof BOXES }[],
  drawing: Drawing,
): readonly string[] {
  const { theme, columns } = drawing;
  const last = new Map(todos.map((todo) => [todo.id, todo]));
  const paint = { pending: (text: string) => text, in_progress: theme.bold, completed: theme.dim };
  return [...last.values()].flatMap(({ content, status }) =>
    wrapWords(visible(content), columns - 4).map((line, at) => paint[status](`${at === 0 ? BOXES[status] : "   "} ${line}`)),
  );
}

const BAR = 20;

function progressLine(
  { progress, total, message }: Extract<Display, { readonly type: "tool_progress" }>,
  { theme, columns }: Drawing,
): string {
  const known = total !== undefined && Number.isFinite(total) && total > 0;
  const part = known ? Math.min(1, progress / total) : 0;
  const done = Math.round(part * BAR);
  const bar = known ? `[${"#".repeat(done)}${"-".repeat(BAR - done)}] ${Math.floor(part * 100)} %` : `${progress}`;
  const rest = message === undefined ? "" : ` ${visible(message).replaceAll("\n", " ")}`;
  return theme.accent(wrap(`${bar}${rest}`, columns)[0] ?? "");
}

const AGENT_CALLS = 5;

function drawAgent(display: Extract<Display, { readonly type: "task_execution" }>, drawing: Drawing, cut: Cut): Part {
  const { toolCalls = [], result, executionSummary: sum, status } = display;
  const { theme, columns } = drawing;
  const line = (text: string): string => wrap(visible(text).replaceAll("\n", " "), columns)[0] ?? "";
  const calls = toolCalls
    .slice(-AGENT_CALLS)
    .map(({ name, status: callStatus, description }) => theme.dim(line(`${callStatus}  ${name} ${description ?? ""}`)));
  const total = sum ? [theme.dim(`${sum.turns} turns, ${sum.toolCalls} calls, ${sum.totalTokens} tokens`)] : [];
  const said = result === undefined || status === "background" ? { lines: [], hidden: 0 } : drawText(result, drawing, cut);
  return { lines: [...calls, ...total, ...said.lines], hidden: said.hidden + Math.max(0, toolCalls.length - AGENT_CALLS) };
}
