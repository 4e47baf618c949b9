import type { JsonObject } from "@assent/core";
import type { Context } from "../command-spec.ts";
import { printContent } from "../output.ts";
import { storeFlag } from "../store-location.ts";
import { oneLine } from "../visible-text.ts";
import type { RunOutcome } from "./run-outcome.ts";
import type { OutputFormat } from "./run-output.ts";

/** What people are told of a run's end. */
export type RunLeft = { readonly resume: string; readonly outcome: RunOutcome; readonly waiting: readonly JsonObject[] };

/** The model's last words on stdout, where the run came to its end; everything else is for people. */
export async function printRunText({ io }: Pick<Context, "io">, { outcome: { text, error } }: RunLeft): Promise<void> {
  if (text !== "" && !error) await printContent(io.stdout, text);
}

/** What went wrong, which a stream says itself, and what waits for a person, with the commands that answer it. */
export async function tellLeft(context: Pick<Context, "io" | "options">, left: RunLeft, format: OutputFormat): Promise<void> {
  const { io } = context;
  const { error, subtype } = left.outcome;
  if (error && format !== "stream-json")
    await io.stderr.write(`assent: ${oneLine(error.message)}\n${error.hint ? `${oneLine(error.hint)}\n` : ""}`);
  if (subtype === "parked") await io.stderr.write(parkedText(left, storeFlag(context)));
}

function parkedText({ waiting, resume }: RunLeft, flags: string): string {
  const each = waiting.map(({ id, title }) => {
    const answers = String(id).startsWith("q_") ? " --answers JSON" : "";
    return [
      `Waiting for an answer: ${oneLine(String(title))}`,
      `  assent approve ${String(id)}${flags}${answers}`,
      `  assent reject ${String(id)}${flags}\n`,
    ].join("\n");
  });
  return `${each.join("")}Then:\n  ${resume}\n`;
}
