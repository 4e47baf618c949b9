import { type ManualClock, manualClock } from "@assent/core/testing";
import type { Keyboard, Output } from "../../src/io/io.ts";

/** An in-memory terminal: records output and simulates keys. */
export type FakeTerminal = {
  readonly io: { readonly stderr: Output; readonly keyboard: Keyboard; readonly env: Record<string, string> };
  readonly clock: ManualClock;
  readonly press: (keys: string) => void;
  readonly painted: () => string;
  /** Resolves when the text was painted since the last call of `shows`. */
  readonly shows: (text: string) => Promise<void>;
  readonly held: () => boolean;
};

export function fakeTerminal({ columns = 80, rows = 24 }: { columns?: number; rows?: number } = {}): FakeTerminal {
  let screen = "";
  let seen = 0;
  let keys: ((text: string) => void) | undefined;
  const waiting = new Set<() => void>();
  const clock = manualClock();
  const shows = async (text: string): Promise<void> => {
    for (;;) {
      const at = screen.indexOf(text, seen);
      if (at !== -1) {
        seen = at + text.length;
        return;
      }
      await new Promise<void>((resolve) => waiting.add(resolve));
    }
  };
  const stderr: Output = {
    isTTY: true,
    columns: () => columns,
    rows: () => rows,
    write: async (text) => {
      screen += text;
      for (const wake of waiting) wake();
      waiting.clear();
    },
  };
  const keyboard: Keyboard = {
    open: (listener) => {
      keys = listener;
      return () => {
        keys = undefined;
      };
    },
  };
  return {
    io: { stderr, keyboard, env: { NO_COLOR: "1" } },
    clock,
    press: (text) => keys?.(text),
    painted: () => screen,
    shows,
    held: () => keys !== undefined,
  };
}
