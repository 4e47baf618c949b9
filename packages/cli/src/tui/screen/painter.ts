import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import type { CardStack } from "../cards/stack.ts";
import type { Canvas, Size } from "../draw/dialog.ts";
import type { Action } from "../input/keys.ts";
import type { Block } from "../transcript/block.ts";
import type { Drawing } from "../transcript/drawing.ts";
import { EMPTY_TRANSCRIPT, liveBlocks, takeSettled } from "../transcript/transcript.ts";
import { blockLines, screenLines } from "./layout.ts";
import type { Frame, Painter } from "./live-screen.ts";
import { cardToShow, type ScreenParts, type ScreenState } from "./state.ts";
import { isBusy, type ViewState } from "./view.ts";

export type FrameParts = {
  readonly parts: ScreenParts;
  readonly state: ScreenState;
  readonly view: ViewState;
  readonly stack: CardStack;
  readonly markdown: Drawing["markdown"];
  readonly prompt: (columns: number) => readonly string[];
};

const LEAST_COLUMNS = 24;
const MOST_KEPT = 2_000;

/** Makes the frames. Settled blocks are printed once. */
export function makePainter(frames: FrameParts): Painter {
  const { state, stack, parts } = frames;
  return {
    frame: (size) => fitFrame(frameOf(frames, size), size.columns),
    painted: () => {
      if (state.card && !state.reader) stack.painted(state.card.canvas);
      if (!state.card && stack.front() && !state.aside) parts.clock.timer(PAUSE_MS, stack.changed);
    },
  };
}

/** When to check again whether the person stopped typing. */
const PAUSE_MS = 120;

export function drawingOf({ parts, markdown, view }: Pick<FrameParts, "parts" | "markdown" | "view">, { columns, rows }: Size): Drawing {
  return {
    columns: Math.max(columns, LEAST_COLUMNS),
    rows,
    theme: parts.look.theme,
    markdown,
    isMarkdown: view.isMarkdown,
    open: false,
    cwd: parts.cwd,
    now: parts.clock.now(),
  };
}

function frameOf(frames: FrameParts, size: Size): Frame {
  const { state, view, stack } = frames;
  const drawing = drawingOf(frames, size);
  if (state.reader) return { printed: [], lines: [], page: state.reader.view(drawing) };
  const { settled, rest } = state.closing
    ? { settled: liveBlocks(state.transcript), rest: EMPTY_TRANSCRIPT }
    : takeSettled(state.transcript);
  const printed = blockLines(settled, state.last, drawing);
  state.transcript = rest;
  keepBlocks(state, settled);
  const item = cardToShow(state, stack, drawing.now);
  let canvas: Canvas | undefined;
  const below = (room: Canvas): readonly string[] => {
    if (!item) return frames.prompt(room.columns);
    canvas = room;
    return [drawing.theme.border("─".repeat(room.columns)), ...stack.view({ ...room, rows: room.rows - 1 })];
  };
  const waiting = stack.waiting().length;
  const lines = screenLines(
    {
      live: liveBlocks(rest),
      last: state.last,
      todos: rest.todos,
      tasks: view.tasks(),
      queued: view.queued,
      busySince: view.busySince,
      status: { ...view.status, waiting, keys: keyWords(frames, item !== undefined) },
      hint: state.hint,
      below,
    },
    drawing,
  );
  state.card = item && canvas ? { item, canvas: { ...canvas, rows: canvas.rows - 1 } } : undefined;
  return { printed, lines };
}

function keyWords({ parts, view, stack }: FrameParts, isCard: boolean): string {
  const key = (action: Action): string => parts.bindings().find((binding) => binding.action === action)?.keys[0] ?? "";
  if (isCard) return `${key("aside")} puts it aside`;
  const waits = stack.waiting().length > 0 ? [`${key("aside")} shows what waits`] : [];
  const works = isBusy(view) ? [`${key("interrupt") === "escape" ? "esc" : key("interrupt")} interrupts`] : [];
  return [...waits, ...works].join(" · ") || `${key("help")} keys`;
}

function keepBlocks(state: ScreenState, settled: readonly Block[]): void {
  if (settled.length === 0) return;
  state.last = settled.at(-1);
  state.kept.push(...settled);
  if (state.kept.length > MOST_KEPT * 1.5) state.kept.splice(0, state.kept.length - MOST_KEPT);
}

function fitFrame({ printed, lines, page }: Frame, columns: number): Frame {
  const fit = (line: string): string => (visibleWidth(line) > columns ? truncateToWidth(line, columns, "") : line);
  return { printed: printed.map(fit), lines: lines.map(fit), page: page?.map(fit) };
}
