import { extname } from "node:path";
import type { OpenApproval } from "@assent/core";
import { editText } from "@assent/host";
import { unifiedDiff } from "@assent/tools";
import type { Io } from "./io.ts";

/** Shows a text in the person's editor; what they made of it is the approval as it would then read. A message says why nothing changed. */
export type ApprovalEditor = (
  approval: OpenApproval,
  signal: AbortSignal,
) => Promise<{ readonly approval: OpenApproval; readonly newContent: string } | { readonly message: string }>;

/** True where what would be written is text that a person can change. */
export function isEditable({ details }: OpenApproval): boolean {
  return details.type === "edit";
}

/** The editor of the settings, else of the environment. */
export function approvalEditor(environment: Io["env"], editor: () => string | undefined): ApprovalEditor {
  return async (approval, signal) => {
    const { details } = approval;
    if (details.type !== "edit") return { message: "This cannot be edited as text." };
    const { originalContent, newContent: proposed, filePath, fileName } = details;
    const edited = await editText({
      current: originalContent ?? "",
      proposed,
      extension: extname(filePath),
      editor: editor(),
      environment,
      signal,
    });
    if ("failure" in edited) return { message: edited.message };
    if (edited.text === proposed) return { message: "Nothing was changed." };
    const fileDiff = unifiedDiff({ name: fileName, before: originalContent, after: edited.text });
    return { approval: { ...approval, details: { ...details, newContent: edited.text, fileDiff } }, newContent: edited.text };
  };
}
