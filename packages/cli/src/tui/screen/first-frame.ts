import { displayWidth, oneLine } from "@assent/core/text";
import { cut } from "../../io/display-width.ts";
import type { Theme } from "../draw/theme.ts";
import { keepEarlyKeys } from "../input/early-keys.ts";
import { statusLine } from "./status-line.ts";

/** What is shown before anything is loaded. */
export type FirstFrame = {
  /** Goes to the scrollback. */
  readonly printed: readonly string[];
  /** The rows that the screen takes over. */
  readonly lines: readonly string[];
};

/** Where the screen begins. */
export type FirstFrameParts = {
  readonly columns: number;
  readonly theme: Theme;
  readonly version: string;
  readonly cwd: string;
  readonly home: string;
};

/** The status of a screen that is being set up. */
export const STARTING = { mode: "default", model: "", tokens: 0, cost: undefined, context: undefined, note: "starting" } as const;

/** The greeting and an empty prompt, drawn with nothing but what every command has. */
export function firstFrame({ columns, theme, version, cwd, home }: FirstFrameParts): FirstFrame {
  const place = home !== "" && cwd.startsWith(home) ? `~${cwd.slice(home.length)}` : cwd;
  const name = ` Assent ${version}`;
  const border = theme.border("─".repeat(columns));
  return {
    printed: [
      "",
      `${theme.title(name)}  ${theme.dim(cut(oneLine(place), Math.max(columns - displayWidth(name) - 3, 4)))}`,
      theme.dim(cut(" A model proposes, you decide. Say what you want done; ? shows the keys.", columns)),
    ],
    lines: ["", border, "", border, statusLine({ ...STARTING, waiting: 0, keys: "? keys" }, { columns, rows: 1, theme })],
  };
}

const PASTES = "\u001b[?2004h";
const RESTORING = "\u001b[?2026l\u001b[?2004l\u001b[?25h";

/** A terminal whose keys are not echoed. */
export type RawTerminal = {
  /** The screen reads the keys from now on; those that were pressed before come first. */
  readonly handOver: () => void;
  /** It is as it was, by somebody else's hand. */
  readonly released: () => void;
  /** Gives it back, below what was painted. */
  readonly giveBack: () => void;
};

/** Takes the terminal and keeps what is typed. Whatever ends the process, it is given back. */
export async function takeTerminal(): Promise<RawTerminal> {
  const restore = (): void => {
    process.stdin.setRawMode?.(false);
    process.stdout.write(RESTORING);
  };
  process.stdin.setRawMode?.(true);
  process.stdout.write(PASTES);
  process.on("exit", restore);
  const { handOver, drop } = await keepEarlyKeys(process.stdin);
  const released = (): void => void process.off("exit", restore);
  const giveBack = (): void => {
    released();
    drop();
    restore();
    process.stdout.write("\r\n");
  };
  return { handOver, released, giveBack };
}
