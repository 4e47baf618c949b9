import {
  type Answer,
  type ApprovalRow,
  type FileReview,
  type Ledger,
  readCallRecord,
  readRow,
  reviewPreview,
  reviewProposal,
} from "@assent/core";
import { nodeDigest } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { chosenPart } from "../proposals/choose.ts";

/** Reads from the options which part of the shown preview, or of the proposal that the call applies, is approved. */
export async function choosePart(context: Context, ledger: Ledger, row: ApprovalRow): Promise<Pick<Answer, "part">> {
  const part = await chosenPart(context, "approve", { id: row.id, review: () => reviewShown(ledger, row) });
  return part ? { part } : {};
}

/** The files that an answer to this approval can choose from. */
export async function reviewShown(ledger: Ledger, { session, call, preview }: ApprovalRow): Promise<readonly FileReview[]> {
  if (preview) return await reviewPreview({ ledger, digest: nodeDigest }, { session, preview: preview.id });
  const { "call.judged": judged } = await readCallRecord(ledger, session, call);
  const proposal = await readRow(ledger, "proposals", judged?.binds["proposal"] ?? "");
  return proposal ? await reviewProposal({ ledger }, proposal, nodeDigest) : [];
}
