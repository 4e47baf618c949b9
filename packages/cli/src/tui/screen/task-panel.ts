import type { TaskView } from "@assent/agent";
import { oneLine } from "@assent/core";
import { cut, displayWidth } from "../../io/display-width.ts";
import type { Canvas } from "../draw/dialog.ts";
import { describePause } from "../transcript/task-ends.ts";

const MOST = 4;

/** Draws running and paused background tasks, one line each. */
export function taskPanel(tasks: readonly TaskView[], { columns, theme }: Canvas, now: number): readonly string[] {
  const open = tasks.filter(({ status, foreground }) => !foreground && ["running", "cancelling", "paused"].includes(status));
  const lines = open.slice(0, MOST).map(({ id, agent, description, status, startedAt, usage, blockedReason, outputFile }) => {
    const since = Math.max(0, Math.round((now - Date.parse(startedAt)) / 1_000));
    const stands = status === "paused" ? `paused${blockedReason ? `: ${describePause(blockedReason)}` : ""}` : `${status} ${since} s`;
    const done = outputFile === undefined ? ` · ${usage.toolUses} calls` : "";
    const end = oneLine(`  ${stands}${done} · ${id}`);
    const what = cut(oneLine(`${agent}: ${description}`), Math.max(1, columns - 2 - displayWidth(end)));
    return `${theme.notice("●")} ${theme.dim(cut(`${what}${end}`, columns - 2))}`;
  });
  return open.length > MOST ? [...lines, theme.dim(`  … ${open.length - MOST} more: /tasks`)] : lines;
}
