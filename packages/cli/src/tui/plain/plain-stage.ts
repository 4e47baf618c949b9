import type { Typed } from "../../desk/terminal/prompt.ts";
import type { Output } from "../../io/io.ts";
import { STARTING } from "../screen/first-frame.ts";
import type { Stage } from "../screen/stage.ts";
import { EMPTY, type Transcript, takeSettled, withBlocks } from "../transcript/transcript.ts";
import { plainLines } from "./plain-lines.ts";

/** What lines are printed with. */
export type PlainParts = {
  readonly output: Output;
  readonly cwd: string;
  readonly ask: (question: string) => Promise<Typed>;
  /** Writes when nothing is asked: lines never come between a question and its answer. */
  readonly between: (write: () => Promise<void>) => Promise<void>;
};

/** Prints what is settled, line by line, and draws nothing again. `idle` resolves when all of it is written. */
export function plainStage({ output, cwd, ask, between }: PlainParts): Stage & { readonly idle: () => Promise<void> } {
  let transcript: Transcript = EMPTY;
  let writing: Promise<void> = Promise.resolve();
  const print = (lines: readonly string[]): void => {
    if (lines.length === 0) return;
    writing = between(() => output.write(`${lines.join("\n")}\n`)).catch(() => undefined);
  };
  const hear: Stage["hear"] = (change) => {
    const { settled, rest } = takeSettled(change(transcript));
    transcript = rest;
    print(settled.flatMap((block) => plainLines(block, cwd)));
  };
  return {
    hear,
    idle: () => writing,
    shown: { status: STARTING, queued: [], busySince: undefined, commands: 0, tasks: () => [], isMarkdown: () => false },
    say: (...blocks) => hear((now) => withBlocks(now, ...blocks)),
    hint: (text) => print([text]),
    remember: () => undefined,
    changed: () => undefined,
    configure: () => undefined,
    confirm: async ({ title, lines, yes, no }) => {
      print([title, ...lines]);
      await writing;
      const typed = await ask(`y: ${yes}. Anything else: ${no}. Then Enter: `);
      return "line" in typed && typed.line.trim().toLowerCase() === "y";
    },
  };
}
