import type { Context } from "../../command-line/spec.ts";
import { wrap } from "../../io/display-width.ts";
import { openPrompt, type Prompt } from "../terminal/prompt.ts";

const FURNITURE_ROWS = 6;

/** Shows all lines, a page at a time, and only then asks. Only a typed y is a yes; leaving, or anything else, is none. */
export async function askToTrust({ io, overrides }: Context, lines: readonly string[]): Promise<boolean> {
  const { systemClock } = await import("@assent/host");
  const { signal } = new AbortController();
  const prompt = openPrompt({ keyboard: io.keyboard, output: io.stderr, clock: overrides.clock ?? systemClock(), signal });
  try {
    const columns = io.stderr.columns() ?? 80;
    const rows = Math.max((io.stderr.rows() ?? 24) - FURNITURE_ROWS, 4);
    const yes = await askAfterLastPage(
      prompt,
      lines.flatMap((line) => wrap(line.replaceAll("\t", "    "), columns)),
      rows,
    );
    if (!yes) await io.stderr.write("\nNot trusted.\n");
    return yes;
  } finally {
    prompt.close();
  }
}

async function askAfterLastPage(prompt: Prompt, lines: readonly string[], rows: number): Promise<boolean> {
  for (let at = 0; ; at += rows) {
    const page = lines.slice(at, at + rows).join("\n");
    const left = lines.length - at - rows;
    const typed = await prompt.ask(left > 0 ? `${page}\n… ${left} more lines. Enter shows more, n says no: ` : `${page}\n\n${QUESTION}`);
    if ("none" in typed) return false;
    const said = typed.line.trim().toLowerCase();
    if (left <= 0) return said === "y";
    if (said === "n") return false;
  }
}

const QUESTION = "Trust it exactly as shown? y trusts it, anything else does not, then Enter: ";
