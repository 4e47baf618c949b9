import { fileURLToPath } from "node:url";
import { CURSOR_MARKER, ProcessTerminal } from "@earendil-works/pi-tui";
import type { Size } from "../../../src/tui/draw/dialog.ts";
import { LiveScreen } from "../../../src/tui/screen/live-screen.ts";

/** The live rows of the stage: a draft has its cursor between the rows, the others after the last one. A stream changes with every frame. */
export type StageKind = "prompt" | "draft" | "card" | "stream";

/** Arguments for Node that draw numbered lines into the scrollback and live rows of this kind below. */
export function resizeStage(kind: StageKind): readonly string[] {
  return ["--conditions=@assent/source", fileURLToPath(import.meta.url), kind];
}

/** The last live row: one column less than the window, with its size. */
export function stageStatus(columns: number, rows: number): string {
  return `${columns} x ${rows} `.padEnd(columns - 1, "=");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) play(process.argv[2] ?? "");

function play(kind: string): void {
  let frames = 0;
  const liveRows = ({ columns, rows }: Size): readonly string[] => {
    const border = "─".repeat(columns);
    if (kind === "card") return ["", border, ...numbered("card", 9), stageStatus(columns, rows)];
    const above = kind === "stream" ? numbered("stream", 1 + (frames % 7)) : [];
    return [
      "",
      ...above,
      border,
      ` typed${kind === "draft" ? CURSOR_MARKER : ""}${" ".repeat(columns - 6)}`,
      border,
      stageStatus(columns, rows),
    ];
  };
  const screen = new LiveScreen(new ProcessTerminal(), {
    frame: (size) => {
      frames += 1;
      const printed = frames === 1 ? numbered("line", 6) : kind === "stream" ? [`more ${frames}`] : [];
      return { printed, lines: liveRows(size) };
    },
    painted: () => undefined,
  });
  screen.addInputListener((data) => {
    if (data === "q") {
      screen.stop();
      process.exit();
    }
    screen.requestRender();
    return { consume: true };
  });
  screen.start();
}

function numbered(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${name} ${at}`);
}
