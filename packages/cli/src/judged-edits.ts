import type { ApprovalRow, Requests, Rules } from "@assent/core";
import type { Context } from "./command-spec.ts";
import { CommandError } from "./failure.ts";
import type { Store } from "./open-store.ts";
import { recordedRequests } from "./recorded-requests.ts";
import { judgeEdit } from "./revised-approval.ts";

/** The requests behind an approval, where an edit that the present policy denies is refused at once: the approval stays open. */
export async function judgedEdits(
  context: Context,
  store: Store,
  approval: ApprovalRow,
): Promise<{ readonly requests: Requests; readonly rules: Rules }> {
  const { requests, rules, revising } = await recordedRequests(context, store, approval);
  const edit: Requests["edit"] = async (row, answer) => {
    const edited = await requests.edit(row, answer);
    if (row.state !== "open" || edited.fingerprint === row.fingerprint) return edited;
    const asked = { ...edited, callId: row.call, sessionId: row.session };
    const judged = await judgeEdit(revising, asked, { updatedInput: edited.input });
    if (!("message" in judged)) return edited;
    throw new CommandError("not_allowed", 1, { message: judged.message, hint: "The approval is still open." });
  };
  return { requests: { ...requests, edit }, rules };
}
