import type { OpenApproval } from "@assent/core";
import { whyOnce } from "../../desk/approvals/why-once.ts";
import type { CardMeans } from "./actions.ts";

/** What is not offered on a card, and why, in a line each. */
export function cardNotes(approval: OpenApproval, { editable, editor, isProposal }: CardMeans, inPlace: boolean): readonly string[] {
  const why = isProposal ? undefined : whyOnce(approval);
  const none = editable !== undefined && !editor && !inPlace;
  return [
    ...(why === undefined ? [] : [`Cannot be remembered: ${why}.`]),
    ...(none ? ["No edit first: there is no editor on PATH; VISUAL or EDITOR names one."] : []),
  ];
}
