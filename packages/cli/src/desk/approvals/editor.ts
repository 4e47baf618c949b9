import { extname } from "node:path";
import type { JsonObject, OpenApproval } from "@assent/core";
import { parseToolInput } from "@assent/core/parts";
import { editText } from "@assent/host";
import type { Io } from "../../io/io.ts";
import { findEditor } from "./editor-command.ts";
import type { EditFailure, RequestEdit } from "./revise.ts";
import { type RevisionParts, reviseApproval } from "./revise.ts";

export type EditableKind = "content" | "command" | "input";

/** Lets a person change a request, which is then judged and shown again. */
export type ApprovalEditor = {
  readonly editable: (approval: OpenApproval) => EditableKind | undefined;
  readonly hasEditor: () => boolean;
  /** Starts with an earlier draft if there is one. */
  readonly open: (editing: EditRequest, signal: AbortSignal) => Promise<RequestEdit | EditFailure>;
  readonly revise: (asked: OpenApproval, edit: RequestEdit, signal: AbortSignal) => Promise<OpenApproval | EditFailure>;
  readonly openText: (texts: EditedTexts, signal: AbortSignal) => Promise<{ readonly text: string } | EditFailure>;
};

export type EditedTexts = { readonly current: string; readonly proposed: string; readonly extension: string };

export type EditRequest = { readonly approval: OpenApproval; readonly draft?: string | undefined };

export type ApprovalEditorParts = {
  readonly environment: Io["env"];
  readonly setting: () => string | undefined;
  /** Undefined if nothing can be judged now. */
  readonly revising: () => RevisionParts | undefined;
};

export function approvalEditor({ environment, setting, revising }: ApprovalEditorParts): ApprovalEditor {
  const editable: ApprovalEditor["editable"] = (approval) => editableOf(approval, revising());
  const openText: ApprovalEditor["openText"] = async (texts, signal) => {
    const edited = await editText({ ...texts, editor: findEditor(environment, setting()), environment, signal });
    return "failure" in edited ? { message: edited.message } : edited;
  };
  return {
    editable,
    openText,
    hasEditor: () => findEditor(environment, setting()) !== undefined,
    open: async ({ approval, draft }, signal) => {
      const text = editorText(approval, editable(approval));
      if (!text) return { message: "This cannot be edited." };
      const { current, proposed, extension, read } = text;
      const edited = await openText({ current, proposed: draft ?? proposed, extension }, signal);
      if ("message" in edited) return edited;
      return edited.text === proposed ? { message: "Nothing was changed." } : read(edited.text);
    },
    revise: async (asked, edit, signal) => {
      const judging = revising();
      return judging ? await reviseApproval(judging, asked, edit, signal) : { message: "This cannot be edited now." };
    },
  };
}

/** The current version, if scripts or files changed since it was shown. */
export async function changeSinceShown(
  editor: ApprovalEditor,
  { asked, edit, approval }: { readonly asked: OpenApproval; readonly edit: RequestEdit; readonly approval: OpenApproval },
  signal: AbortSignal,
): Promise<OpenApproval | EditFailure | undefined> {
  const now = await editor.revise(asked, edit, signal);
  return JSON.stringify(now) === JSON.stringify(approval) ? undefined : now;
}

export const CHANGED_NOTE = "Its effect changed while you were looking. This is the current version.";

export function editCommand({ input, details }: OpenApproval, command: string): RequestEdit {
  const shown = details.type === "exec" ? details.command : undefined;
  const field = Object.keys(input).find((name) => input[name] === shown) ?? "command";
  return { updatedInput: { ...input, [field]: command } };
}

/** A plan is edited as a file, and `resolve` applies what was already shown. */
function editableOf({ tool: name, details }: OpenApproval, revising: RevisionParts | undefined): EditableKind | undefined {
  const tool = revising?.tools.get(name);
  if (!tool || details.type === "plan" || tool.definition.runtimeHandler === "resolve") return undefined;
  if (details.type === "exec") return "command";
  return details.type === "edit" && tool.definition.modify !== undefined ? "content" : "input";
}

type EditorText = {
  readonly current: string;
  readonly proposed: string;
  readonly extension: string;
  readonly read: (text: string) => RequestEdit | EditFailure;
};

function editorText(approval: OpenApproval, editable: EditableKind | undefined): EditorText | undefined {
  const { details, input } = approval;
  if (editable === undefined) return undefined;
  if (editable === "content" && details.type === "edit") {
    const { originalContent, newContent: proposed, filePath } = details;
    return { current: originalContent ?? "", proposed, extension: extname(filePath), read: (newContent) => ({ newContent }) };
  }
  if (editable === "command" && details.type === "exec")
    return sameText(`${details.command}\n`, ".sh", (text) => commandIn(approval, text.replace(/\n$/, "")));
  return sameText(`${JSON.stringify(input, null, 2)}\n`, ".json", inputIn);
}

function sameText(text: string, extension: string, read: EditorText["read"]): EditorText {
  return { current: text, proposed: text, extension, read };
}

function commandIn(approval: OpenApproval, command: string): RequestEdit | EditFailure {
  return command.trim() === "" ? { message: "The command is empty." } : editCommand(approval, command);
}

function inputIn(text: string): RequestEdit | EditFailure {
  const parsed = parseToolInput(text);

  return parsed.ok ? { updatedInput: parsed.value as JsonObject } : { message: `Invalid input: ${parsed.message}`, text };
}
