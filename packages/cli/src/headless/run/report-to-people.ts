import type { ConversationEvent } from "@assent/agent";
import type { DecisionNotice, Session } from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { inputSubject } from "../../desk/approvals/edited-answer.ts";
import { type WaitingItem, waitingText } from "../../desk/approvals/waiting-list.ts";
import { hintText } from "../../io/failure.ts";
import { printContent, warn } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { storeFlag } from "../../store/location.ts";
import type { OutputFormat } from "../stream/output.ts";
import type { RunOutcome } from "./outcome.ts";

export function reportToPeople(context: Context, format: OutputFormat): (event: ConversationEvent) => void {
  const { io } = context;
  if (format === "stream-json") return () => undefined;
  return (event) => {
    if (event.type === "warning") void warn(io, event.message);
    if (event.type !== "parked") return;
    const { id, label } = event.proposal;
    const flags = storeFlag(context);
    void io.stderr.write(`${oneLine(label)} waits for you: assent apply ${id}${flags}, or assent discard ${id}${flags}\n`);
  };
}

/** A call that was denied because no one could be asked. */
export type UnaskedCall = { readonly notice: DecisionNotice; readonly session: Session; readonly isAgent: boolean };

const SUBJECT_COLUMNS = 60;

/** Warns about a call that no one could be asked about. Other formats report every decision anyway. */
export function reportUnasked({ io, options }: Context, format: OutputFormat): (unasked: UnaskedCall) => void {
  if (format !== "text") return () => undefined;
  const allow = options.text("policy") === undefined ? "--allow RULE" : "an allow rule in the --policy file";
  return ({ notice: { callId, toolName, input }, session, isAgent }) => {
    const call = session.state.calls.get(callId);
    const insisted = call !== undefined && "judged" in call && call.judged.explicitAsk;
    const helps = [
      ...(isAgent ? [] : ["--on-ask park lets you answer later"]),
      ...(insisted ? [] : [`${allow} allows it, and assent explain shows which rule`]),
    ];
    const subject = inputSubject(input, SUBJECT_COLUMNS);
    const what = `${toolName}${subject === "" ? "" : ` (${subject})`} was not run, because no one could be asked.`;
    void warn(io, helps.length === 0 ? what : `${what} ${helps.join("; ")}.`);
  };
}

export type RunEnding = { readonly resume: string; readonly outcome: RunOutcome; readonly waiting: readonly WaitingItem[] };

/** Prints the model's last answer if the run ended normally or the provider cut the answer off. */
export async function printRunText({ io }: Pick<Context, "io">, { outcome: { text, error, subtype } }: RunEnding): Promise<void> {
  if (text !== "" && (!error || subtype === "error_incomplete_answer")) await printContent(io.stdout, text);
}

/** Reports errors, waiting items with their commands, and how to continue. */
export async function reportEnding(
  context: Pick<Context, "io" | "options" | "worker">,
  left: RunEnding,
  format: OutputFormat,
): Promise<void> {
  const { io } = context;
  const { outcome, waiting, resume } = left;
  const { error, subtype } = outcome;
  if (error && format !== "stream-json")
    await io.stderr.write(`assent: ${oneLine(error.message)}\n${error.hint ? `${oneLine(hintText(error.hint))}\n` : ""}`);
  // A result of the other formats contains the command.
  if (subtype === "parked" || (error && format === "text"))
    await io.stderr.write(waitingText(waiting, { resume: context.worker && !error ? undefined : resume, flags: storeFlag(context) }));
}
