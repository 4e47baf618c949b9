import type { Clock } from "@assent/core";
import { cut } from "../../io/display-width.ts";
import type { Keyboard, Output } from "../../io/io.ts";
import { oneLine, visible } from "../../io/visible-text.ts";

/** A typed line, or why there is none: Ctrl-C, end of input, or answered elsewhere. */
export type TypedLine = { readonly line: string } | { readonly none: "cancelled" | "closed" | "withdrawn" };

/** Holds the keyboard until it is closed. */
export type Prompt = {
  /** Ignores keys pressed before the text was readable, except Ctrl-C. */
  readonly ask: (text: string) => Promise<TypedLine>;
  /** Keeps keys typed early, because the line decides nothing. */
  readonly askAtOnce: (text: string) => Promise<TypedLine>;
  readonly close: () => void;
};

const READING_TIME_MS = 300;

type PromptParts = {
  readonly keyboard: Keyboard;
  readonly output: Output;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly pressed?: () => void;
};
type WaitingPrompt = { typed: string; readable: boolean; readonly done: (typed: TypedLine) => void };

export function openPrompt({ keyboard, output, clock, signal, pressed }: PromptParts): Prompt {
  let waiting: WaitingPrompt | undefined;
  let painting = Promise.resolve();
  const paint = (text: string): Promise<void> => {
    painting = painting.then(() => output.write(text)).catch(() => waiting?.done({ none: "closed" }));
    return painting;
  };
  let isEnded = false;
  const ended = (): void => {
    isEnded = true;
    waiting?.done({ none: "closed" });
  };
  const release = keyboard.open((keys) => {
    pressed?.();
    for (const key of splitKeys(keys)) if (waiting) press(waiting, key, paint);
  }, ended);
  const withdrawn = (): void => waiting?.done({ none: "withdrawn" });
  signal.addEventListener("abort", withdrawn);
  const wait = (text: string, readable: boolean): Promise<TypedLine> => {
    const { promise, resolve } = Promise.withResolvers<TypedLine>();
    const now: WaitingPrompt = { typed: "", readable, done: resolve };
    waiting = now;
    const shown = paint(text).then(() => clock.timer(READING_TIME_MS, () => Object.assign(now, { readable: true })));
    if (signal.aborted) withdrawn();
    if (isEnded) ended();
    return promise.finally(async () => {
      (await shown)();
      await painting; // echo earlier input first
    });
  };
  return {
    ask: (text) => wait(text, false),
    askAtOnce: (text) => wait(text, true),
    close: () => {
      waiting = undefined;
      signal.removeEventListener("abort", withdrawn);
      release();
    },
  };
}

function splitKeys(keys: string): readonly string[] {
  const [plain = "", ...sequences] = keys.split("\u001b");
  return [plain, ...sequences.map((sequence) => sequence.replace(/^(?:\[[0-9;?]*[ -/]*[@-~]|O.|.)/u, ""))].flatMap((text) => [...text]);
}

function press(waiting: WaitingPrompt, key: string, paint: (text: string) => Promise<void>): void {
  if (key === "\u0003") waiting.done({ none: "cancelled" });
  else if (!waiting.readable) return;
  else if (key === "\r" || key === "\n") {
    waiting.done({ line: waiting.typed });
    void paint("\n");
  } else if (key === "\u0004") {
    if (waiting.typed === "") waiting.done({ none: "closed" });
  } else if (key === "\u007f" || key === "\b" || key === "\u0015") {
    void paint(erase(waiting, key === "\u0015"));
  } else if (key >= " " && visible(key) === key) {
    waiting.typed += key;
    void paint(key);
  }
}

function erase(waiting: WaitingPrompt, all: boolean): string {
  const characters = [...waiting.typed];
  const gone = all ? characters.length : Math.min(1, characters.length);
  waiting.typed = characters.slice(0, characters.length - gone).join("");
  return "\b \b".repeat(gone);
}

const LONGEST_SAID = 20;

export function quoteTyped(typed: string): string {
  return typed === "" ? "Enter alone" : `'${cut(oneLine(typed), LONGEST_SAID)}'`;
}
