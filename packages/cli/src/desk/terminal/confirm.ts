import { createSystemClock } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { wrap } from "../../io/display-width.ts";
import { openPrompt, type Prompt } from "./prompt.ts";

export type Confirmation = {
  readonly lines: readonly string[];
  readonly question: string;
  /** Printed if the person declines. */
  readonly declined: string;
};

/** Rows besides a page: the question and what surrounds it. */
const OTHER_ROWS = 6;

/** Shows all lines in pages, then asks. Only a typed y confirms. */
export async function confirmInTerminal({ io, overrides }: Context, { lines, question, declined }: Confirmation): Promise<boolean> {
  const { signal } = new AbortController();
  const prompt = openPrompt({ keyboard: io.keyboard, output: io.stderr, clock: overrides.clock ?? createSystemClock(), signal });
  try {
    const columns = io.stderr.columns() ?? 80;
    const rows = Math.max((io.stderr.rows() ?? 24) - OTHER_ROWS, 4);
    const shown = lines.flatMap((line) => wrap(line.replaceAll("\t", "    "), columns));
    const yes = await askAfterLastPage(prompt, shown, rows, question);
    if (!yes) await io.stderr.write(`\n${declined}\n`);
    return yes;
  } finally {
    prompt.close();
  }
}

async function askAfterLastPage(prompt: Prompt, lines: readonly string[], rows: number, question: string): Promise<boolean> {
  for (let at = 0; ; at += rows) {
    const page = lines.slice(at, at + rows).join("\n");
    const left = lines.length - at - rows;
    const typed = await prompt.ask(left > 0 ? `${page}\n… ${left} more lines. Enter shows more, n says no: ` : `${page}\n\n${question}`);
    if ("none" in typed) return false;
    const said = typed.line.trim().toLowerCase();
    if (left <= 0) return said === "y";
    if (said === "n") return false;
  }
}
