import { displayWidth, oneLine } from "@assent/core/text";
import { cut } from "../../io/display-width.ts";
import type { Canvas } from "../draw/dialog.ts";
import type { Role, Theme } from "../draw/theme.ts";

export type Status = {
  readonly mode: string;
  readonly model: string;
  readonly tokens: number;
  /** In USD; undefined if the price is unknown. */
  readonly cost: number | undefined;
  /** Used share of the model's context; undefined if its size is unknown. */
  readonly context: number | undefined;
  readonly waiting: number;
  readonly keys: string;
  /** What is happening, e.g. "starting". */
  readonly note: string;
};

type StatusPart = readonly [text: string, paint: (text: string) => string];

/** Draws the status line; less important parts are dropped if there is no room. */
export function statusLine(status: Status, { columns, theme }: Canvas): string {
  const { keys } = status;
  const parts = statusParts(status, theme);
  const room = columns - displayWidth(keys) - 3;
  let line = "";
  let used = 0;
  for (const [text, paint] of parts) {
    const lead = used === 0 ? "" : " · ";
    const width = displayWidth(lead + text);
    if (used + width > room) break;
    line += `${theme.dim(lead)}${paint(text)}`;
    used += width;
  }
  if (used === 0) return theme.dim(cut(status.mode, columns));
  return ` ${line}${" ".repeat(Math.max(columns - used - displayWidth(keys) - 2, 1))}${theme.dim(keys)}`;
}

function statusParts({ mode, model, tokens, cost, context, waiting, note }: Status, theme: Theme): readonly StatusPart[] {
  const when = (holds: boolean, text: string, paint = theme.dim): readonly StatusPart[] => (holds ? [[text, paint]] : []);
  return [
    [mode, MODE_ROLES[mode] === undefined ? theme.accent : theme[MODE_ROLES[mode]]],
    ...when(waiting > 0, `${waiting} waiting`, theme.warning),
    ...when(note !== "", note),
    ...when(model !== "", oneLine(model)),
    ...when(tokens > 0, `${shortNumber(tokens)} tokens`),
    ...(cost === undefined ? [] : when(cost > 0, `$${cost.toFixed(cost < 1 ? 3 : 2)}`)),
    ...(context === undefined ? [] : when(true, `context ${Math.round(context * 100)} %`, context > FULL ? theme.warning : theme.dim)),
  ];
}

const FULL = 0.8;
const MODE_ROLES: Readonly<Record<string, Role>> = { default: "dim", yolo: "error" };

function shortNumber(count: number): string {
  if (count < 1_000) return String(count);
  return count < 1_000_000 ? `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}
