import { type Content, contentText, type OutcomeState } from "@assent/core";
import type { Context } from "../command-line/spec.ts";
import { type WaitingItem, waitingText } from "../desk/approvals/waiting-list.ts";
import { printContent, printJson } from "../io/output.ts";
import { oneLine } from "../io/visible-text.ts";
import { storeFlag } from "../store/location.ts";

export type CallEnd = { readonly sessionId: string; readonly callId: string } & (
  | {
      readonly outcome: OutcomeState;
      readonly type: string | null;
      readonly content: string;
      readonly stopReason?: string;
      /** A rule or safeguard requires approval, so no allow rule helps. */
      readonly insisted?: boolean;
      /** The proposal that waits to be applied or discarded. */
      readonly staged?: string;
    }
  | ({ readonly outcome: "waiting"; readonly approvalId: string } & Pick<WaitingItem, "subject" | "previewed">)
);

const EXIT_OF: Readonly<Record<CallEnd["outcome"], number>> = {
  succeeded: 0,
  invalid: 1,
  denied: 1,
  rejected: 1,
  expired: 1,
  failed: 1,
  timed_out: 1,
  unknown: 1,
  waiting: 75,
  cancelled: 130,
};

/** The exit code of a call. An unknown tool is an unknown name, as in other commands. */
export function exitOf(end: CallEnd): number {
  return end.outcome === "invalid" && end.type === "tool_not_registered" ? 4 : EXIT_OF[end.outcome];
}

/** What the model gets, with placeholders for images and files. */
export function modelContent(content: Content): string {
  if (typeof content === "string") return content;
  const others = content.flatMap((part) => ("data" in part ? [`[${part.mediaType}, ${part.data.length} characters of base64]`] : []));
  return [contentText(content), ...others].filter((text) => text !== "").join("\n");
}

export async function printCallEnd(context: Context, end: CallEnd): Promise<void> {
  const { io, options } = context;
  const json = options.flag("json");
  if (end.outcome === "waiting") {
    const { sessionId, callId, outcome, approvalId, ...item } = end;
    const flags = storeFlag(context);
    await io.stderr.write(waitingText([{ id: approvalId, ...item }], { resume: `assent resume ${sessionId}${flags}`, flags }));
    if (json) await printJson(io, { sessionId, callId, outcome, type: null, content: null, approvalId });
    return;
  }
  const { insisted = false, staged, ...shown } = end;
  if (json) await printJson(io, shown);
  else if (end.type === "tool_not_registered") await io.stderr.write(unknownToolText(context, end.content));
  else await printContent(end.outcome === "succeeded" ? io.stdout : io.stderr, end.content);
  if (end.stopReason !== undefined) await io.stderr.write(`A hook stops the run: ${oneLine(end.stopReason)}\n`);
  if (staged !== undefined) await io.stderr.write(stagedText(staged, storeFlag(context)));
  if (end.type === "edit_requires_prior_read") await io.stderr.write(UNREAD);
  if (end.type === "denied_unattended") await io.stderr.write(unattendedHint(insisted, options.text("policy") !== undefined));
}

/** The recorded text is for models; of it, a person needs only the suggestion. */
function unknownToolText({ operands: [tool = ""] }: Context, content: string): string {
  const [suggestion] = /Did you mean .*\?/.exec(content) ?? [];
  return `assent call: unknown tool '${oneLine(tool)}'.${suggestion === undefined ? "" : ` ${suggestion}`}\n`;
}

function stagedText(id: string, flags: string): string {
  return `Nothing has changed yet. Apply or discard it:\n  assent apply ${id}${flags}\n  assent discard ${id}${flags}\n`;
}

const UNREAD = "A single call cannot change an existing file, because it has not read it. Use a run instead: assent run.\n";

function unattendedHint(insisted: boolean, byFile: boolean): string {
  const allow = byFile ? "  an allow rule in the --policy file" : "  --allow RULE";
  return [
    "To be asked, run this in a terminal without --on-ask. Or use",
    "  --on-ask park   to answer later with assent approve",
    ...(insisted ? [] : [`${allow.padEnd(18)}to allow it without asking; assent explain shows which rule`]),
    "",
  ].join("\n");
}
