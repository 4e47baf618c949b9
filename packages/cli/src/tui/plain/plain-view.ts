import type { TypedLine } from "../../desk/terminal/prompt.ts";
import type { Output } from "../../io/io.ts";
import { STARTING } from "../screen/first-frame.ts";
import type { ConversationView } from "../screen/view.ts";
import { appendBlocks, EMPTY_TRANSCRIPT, type Transcript, takeSettled } from "../transcript/transcript.ts";
import { plainLines } from "./plain-lines.ts";

export type PlainViewParts = {
  readonly output: Output;
  readonly cwd: string;
  readonly ask: (question: string) => Promise<TypedLine>;
  readonly between: (write: () => Promise<void>) => Promise<void>;
};

/** Prints settled blocks line by line. `idle` resolves when all are written. */
export function makePlainView({ output, cwd, ask, between }: PlainViewParts): ConversationView & { readonly idle: () => Promise<void> } {
  let transcript: Transcript = EMPTY_TRANSCRIPT;
  let writing: Promise<void> = Promise.resolve();
  const print = (lines: readonly string[]): void => {
    if (lines.length === 0) return;
    writing = between(() => output.write(`${lines.join("\n")}\n`)).catch(() => undefined);
  };
  const update: ConversationView["update"] = (change) => {
    const { settled, rest } = takeSettled(change(transcript));
    transcript = rest;
    print(settled.flatMap((block) => plainLines(block, cwd)));
  };
  return {
    update,
    idle: () => writing,
    state: { status: STARTING, queued: [], busySince: undefined, commands: 0, tasks: () => [], isMarkdown: () => false },
    append: (...blocks) => update((now) => appendBlocks(now, ...blocks)),
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
