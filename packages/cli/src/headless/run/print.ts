import type { Context } from "../../command-line/spec.ts";
import type { Waiting } from "../../desk/approvals/waiting-list.ts";
import { waitingText } from "../../desk/approvals/waiting-text.ts";
import { hintText } from "../../io/failure.ts";
import { printContent } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { storeFlag } from "../../store/location.ts";
import type { OutputFormat } from "../stream/output.ts";
import type { RunOutcome } from "./outcome.ts";

/** What people are told of a run's end. */
export type RunLeft = { readonly resume: string; readonly outcome: RunOutcome; readonly waiting: readonly Waiting[] };

/** Prints the model's last answer on stdout if the run ended normally or the provider cut the answer off. */
export async function printRunText({ io }: Pick<Context, "io">, { outcome: { text, error, subtype } }: RunLeft): Promise<void> {
  if (text !== "" && (!error || subtype === "error_incomplete_answer")) await printContent(io.stdout, text);
}

/** What went wrong, which a stream says itself, and what waits for a person, with the commands that answer it, and how it goes on. */
export async function tellLeft(context: Pick<Context, "io" | "options">, left: RunLeft, format: OutputFormat): Promise<void> {
  const { io } = context;
  const { outcome, waiting, resume } = left;
  const { error, subtype } = outcome;
  if (error && format !== "stream-json")
    await io.stderr.write(`assent: ${oneLine(error.message)}\n${error.hint ? `${oneLine(hintText(error.hint))}\n` : ""}`);
  // A result of the other formats has the command itself.
  if (subtype === "parked" || (error && format === "text"))
    await io.stderr.write(waitingText(waiting, { resume, flags: storeFlag(context) }));
}
