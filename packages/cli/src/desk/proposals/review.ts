import { extname } from "node:path";
import {
  type FileReview,
  type OpenApproval,
  readCallRecord,
  reviewChanges,
  reviewPreview,
  reviewProposal,
  type Session,
} from "@assent/core";
import { nodeDigest } from "@assent/host";
import { oneLine } from "../../io/visible-text.ts";
import type { ApprovalEditor } from "../approvals/editor.ts";
import type { EditFailure } from "../approvals/revise.ts";
import { appliesProposal } from "../approvals/view.ts";

export type ReviewedChange = FileReview & { readonly edited?: true };

type Reviewed = readonly FileReview[] | undefined;

/** Reads the files that a person can choose from: those of a shown preview, or of the proposal that a call of `resolve` applies. Undefined if there are none. */
export function reviewApproval(session: Session | undefined, approval: OpenApproval): Promise<Reviewed> | undefined {
  const { effect } = approval.details;
  if (session && effect?.state === "shown" && effect.unwritable === undefined) return reviewEffect(session, effect.id);
  return session && appliesProposal(approval) ? reviewApplied(session, approval) : undefined;
}

async function reviewEffect({ ledger, id: session }: Session, preview: string): Promise<Reviewed> {
  return someFiles(await reviewPreview({ ledger, digest: nodeDigest }, { session, preview }));
}

async function reviewApplied({ ledger, id: session, state }: Session, { callId }: OpenApproval): Promise<Reviewed> {
  const { "call.judged": judged } = await readCallRecord(ledger, session, callId);
  const row = state.proposals.get(judged?.binds["proposal"] ?? "");
  return row && someFiles(await reviewProposal({ ledger }, row, nodeDigest));
}

function someFiles(files: readonly FileReview[]): Reviewed {
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
