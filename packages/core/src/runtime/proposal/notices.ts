import type { Draft } from "../../model/events.ts";
import type { ProposalRow } from "../../model/proposal/proposal.ts";
import { resolveText } from "../../model/proposal/resolve-texts.ts";
import type { Staging } from "./staging.ts";

/** Drafts a notice, with a separate text for people if given. */
export function noticeDraft({ session, ids }: Staging, text: string, displayText: string = text): Draft<"notice.queued"> {
  return session.draft("notice.queued", { notice: ids.next("n_"), kind: "proposal", modelText: text, displayText });
}

/** Drafts the notice of a parked proposal: the model continues, and a person can settle it. */
export function parkedNotice(staging: Staging, row: Pick<ProposalRow, "id" | "label">): Draft<"notice.queued"> {
  const { id, label } = row;
  const forPeople = `${label} waits for you as ${id}. Apply it: assent approve ${id} Discard it: assent reject ${id}`;
  return noticeDraft(staging, resolveText.parked(row), forPeople);
}

/** Describes what was done with a proposal, and why. */
export function describeSettling(what: string, { id, label }: Pick<ProposalRow, "id" | "label">, reason: string): string {
  return `${what} ${label} (${id}).${reason === "" ? "" : ` Reason: ${reason}`}`;
}
