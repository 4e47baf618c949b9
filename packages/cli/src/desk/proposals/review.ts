import { extname } from "node:path";
import { type FileReview, type OpenApproval, readCallRecord, reviewChanges, reviewProposal, type Session } from "@assent/core";
import { nodeDigest } from "@assent/host";
import { oneLine } from "../../io/visible-text.ts";
import type { ApprovalEditor } from "../approvals/editor.ts";
import type { EditFailure } from "../approvals/revise.ts";
import { appliesProposal } from "../approvals/view.ts";

export type ReviewedChange = FileReview & { readonly edited?: true };

/** The files that a call of `resolve` would change; undefined if it applies none. */
export async function reviewApproval(session: Session | undefined, approval: OpenApproval): Promise<readonly ReviewedChange[] | undefined> {
  if (!session || !appliesProposal(approval)) return undefined;
  const { "call.judged": judged } = await readCallRecord(session.ledger, session.id, approval.callId);
  const row = session.state.proposals.get(judged?.binds["proposal"] ?? "");
  const files = row ? await reviewProposal(session, row, nodeDigest) : [];
  return files.length > 0 ? files : undefined;
}

/** Lets the person change the new content of one file. */
export async function editReviewed(
  editor: Pick<ApprovalEditor, "openText">,
  file: ReviewedChange,
  signal: AbortSignal,
): Promise<ReviewedChange | EditFailure> {
  const { path, name, text, notes, edited } = file;
  if (!text || text.after === null) return { message: `${oneLine(name)} can't be edited.` };
  const made = await editor.openText({ current: text.before ?? "", proposed: text.after, extension: extname(path) }, signal);
  if ("message" in made) return made;
  if (made.text === text.after) return { message: "Nothing was changed." };
  const [now] = reviewChanges([{ path, realPath: path, before: bytesOf(text.before), after: bytesOf(made.text) }], {
    cwd: "",
    digest: nodeDigest,
  });
  if (!now) return { message: "This can't be edited here." };
  const { hunks, added, removed, text: texts } = now;
  return {
    ...file,
    hunks,
    added,
    removed,
    ...(texts && { text: texts }),
    notes: edited ? notes : [...notes, "edited by you"],
    edited: true,
  };
}

function bytesOf(text: string): Uint8Array;
function bytesOf(text: string | null): Uint8Array | null;
function bytesOf(text: string | null): Uint8Array | null {
  return text === null ? null : new TextEncoder().encode(text);
}

export function withEdited(files: readonly ReviewedChange[], file: ReviewedChange): readonly ReviewedChange[] {
  return files.map((each) => (each.path === file.path ? file : each));
}
