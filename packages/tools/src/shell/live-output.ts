import type { Display, RunContext } from "@assent/core";
import { type AnsiScreen, makeAnsiScreen } from "@assent/host";

export const TERMINAL_SIZE = { columns: 80, rows: 24 } as const;

/** Limits for the live view. */
const LIVE_CHARS = 10_000;
const LIVE_LINES = 100;
const LIVE_SIZE = { columns: 200, rows: 24 } as const;
/** Limit for one drawing. If output arrives faster, only its end is drawn. */
const DRAWN_CHARS = 8_000;

/** Shows people the end of the output as it arrives: as text until there is an escape sequence, then drawn like a terminal. */
export function liveOutput(update: RunContext["update"], { isTerminal }: { readonly isTerminal: boolean }): (chunk: string) => void {
  const draw = liveScreen(update, () => makeAnsiScreen(isTerminal ? TERMINAL_SIZE : LIVE_SIZE));
  let isDrawn = isTerminal;
  let tail = "";
  return (chunk) => {
    if (!isDrawn && chunk.includes("\x1b")) {
      isDrawn = true;
      draw(tail);
    }
    if (isDrawn) return draw(chunk);
    tail = (tail + chunk).slice(-LIVE_CHARS).toWellFormed();
    update(tail);
  };
}

/** Draws chunks together, because drawing is slow. */
function liveScreen(update: RunContext["update"], newScreen: () => AnsiScreen): (chunk: string) => void {
  let screen = newScreen();
  let waiting = "";
  let isDue = false;
  const draw = (): void => {
    isDue = false;
    screen.write(waiting);
    waiting = "";
    update(ansiDisplay(screen));
  };
  return (chunk) => {
    waiting += chunk;
    if (waiting.length > DRAWN_CHARS) {
      waiting = waiting.slice(-DRAWN_CHARS);
      screen = newScreen();
    }
    if (!isDue) setImmediate(draw);
    isDue = true;
  };
}

function ansiDisplay(screen: AnsiScreen): Display {
  return { type: "ansi_output", ansiOutput: screen.lines(LIVE_LINES) };
}
