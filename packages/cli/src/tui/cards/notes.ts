import type { OpenApproval } from "@assent/core";
import { whyNotRemembered } from "../../desk/approvals/remember.ts";
import type { CardMeans } from "./actions.ts";

/** What is not offered on a card, and why, in a line each. */
export function cardNotes(approval: OpenApproval, { editable, editor, isProposal }: CardMeans, inPlace: boolean): readonly string[] {
  const why = isProposal ? undefined : whyNotRemembered(approval);
  const none = editable !== undefined && !editor && !inPlace;
  return [
    ...(why === undefined ? [] : [`"Always allow" is not available: ${why}.`]),
    ...(none ? ["Editing first needs an editor: set VISUAL or EDITOR."] : []),
  ];
}
