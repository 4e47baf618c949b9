import type { FileState } from "./events.ts";
import type { ChosenFile } from "./part.ts";
import type { ProposalRow, ProposalState } from "./proposal.ts";

type NamedProposal = Pick<ProposalRow, "id" | "label">;
type ProposalRef = { readonly id: string; readonly state: ProposalState };

const NAMES = 20;

/** The fixed texts about settling proposals. */
export const resolveText = {
  nothingToApply: (): string => "No pending action to resolve. Nothing to apply or discard.",
  nothingToDiscard: (): string => "No action is pending. Nothing to discard.",
  applyFailed: (message: string): string => `Apply failed: ${message}`,
  restored: (files: number): string => `Restored ${count(files, "file")}.`,
  discarded: ({ label, reason }: { readonly label: string; readonly reason: string }): string => `Discarded: ${label}. Reason: ${reason}.`,
  ambiguous: (pending: readonly NamedProposal[]): string =>
    ["Several actions are pending. Give the id of one:", ...listed(pending)].join("\n"),
  notFound: ({
    id,
    pending,
    owner,
  }: {
    readonly id: string;
    readonly pending: readonly NamedProposal[];
    readonly owner?: string;
  }): string =>
    [`No proposal ${id} in this session.${owner === undefined ? "" : ` It belongs to session ${owner}.`}`, ...listed(pending)].join("\n"),
  notPending: ({ id, state }: ProposalRef, done: "applied" | "discarded"): string => `Proposal ${id} is ${state}. Nothing was ${done}.`,
  alreadySettled: ({ id, state }: ProposalRef): string => `Proposal ${id} is already ${state}.`,
  busy: ({ id }: { readonly id: string }): string => `Proposal ${id} is being applied elsewhere.`,
  stale: (files: readonly string[]): string =>
    `Stale: ${count(files.length, "file")} changed since the preview: ${names(files)}. Nothing was written. Preview again.`,
  toolChanged: (tool: string): string => `Tool ${tool} changed since the preview.`,
  lost: ({ label }: { readonly label: string }): string =>
    `Lost: ${label} was staged by a process that has ended. Nothing was applied. Preview again.`,
  resolverIsPerson: ({ id, label }: NamedProposal): string => `Only a person can apply ${label}. It is waiting for them as ${id}.`,
  resolverIsModel: ({ label }: { readonly label: string }): string => `Only the model can apply ${label}. A person may discard it.`,
  cancelledBeforeCommit: ({ label }: { readonly label: string }): string =>
    `Cancelled before anything was written. ${label} is still pending.`,
  cancelledUnknown: ({ label }: { readonly label: string }): string =>
    `Cancelled while applying ${label}. It may have taken effect. Check before trying again.`,
  unknown: ({
    label,
    message,
    files,
  }: {
    readonly label: string;
    readonly message: string;
    readonly files: readonly FileState[];
  }): string => [`It is unknown whether ${label} was applied: ${message}`, ...files.map(({ path, at }) => `- ${path}: ${at}`)].join("\n"),
  superseded: ({ id, label }: NamedProposal): string => `Superseded: ${id} (${label}).`,
  staged: ({ id, label }: NamedProposal): string => `Preview staged as ${id}: ${label}. No file was modified.`,
  moreChanges: (more: number, id: string): string => `… ${more} more changes in the stored preview ${id}`,
  tooLarge: ({ files, bytes }: { readonly files: number; readonly bytes: number }): string =>
    `The preview is too large: ${count(files, "file")}, ${bytes} bytes. At most 10,000 files and 256 MiB. Nothing was staged.`,
  applied: ({ label }: { readonly label: string }): string => `Applied: ${label}.`,
  partLabel: (label: string): string => `Part of ${label}`,
  noParts: ({ label }: { readonly label: string }): string => `${label} records no files, so no part of it can be chosen.`,
  personChosePart: (): string => "The person approved only a part of this change.",
  appliedPart: ({ id, of, files }: { readonly id: string; readonly of: NamedProposal; readonly files: readonly ChosenFile[] }): string =>
    [
      `Applied a part of ${of.label} as ${id}. The rest of ${of.id} was not applied and is no longer pending.`,
      ...partLines("Applied", files.flatMap(appliedWords)),
      ...partLines("Not applied", files.flatMap(leftWords)),
      ...(files.some(({ state }) => state === "some" || state === "edited") ? [READ_AGAIN] : []),
    ].join("\n"),
  writtenPart: (files: readonly ChosenFile[]): string =>
    [
      "[The command ran once, on a copy of the workspace without network. The person approved only a part of its changes.",
      ...partLines("Written", files.flatMap(appliedWords)),
      ...partLines("Not written", files.flatMap(leftWords)),
    ].join("\n") + "]",
  undone: ({ id, label }: NamedProposal): string => `Undone: ${id} (${label}). ${RESTORED}`,
  undoneByPerson: (settled: string): string => `${settled} ${RESTORED}`,
  undoConflict: ({ id, files }: { readonly id: string; readonly files: readonly string[] }): string =>
    `Cannot undo ${id}: changed since: ${names(files)}. Nothing was written.`,
  undoFailed: ({ id, message }: { readonly id: string; readonly message: string }): string =>
    `Cannot undo ${id}: ${message}. The files are as they were.`,
  notUndoable: ({ id, state, supersededBy = null }: ProposalRef & { readonly supersededBy?: string | null }): string =>
    supersededBy === null
      ? `Proposal ${id} is ${state}.`
      : `Proposal ${id} itself was not applied: ${supersededBy} was applied instead. Undo ${supersededBy}.`,
  undoUnavailable: ({ label }: { readonly label: string }): string => `${label} was applied by code that keeps no pre-images.`,
  parked: ({ id, label }: NamedProposal): string => `${label} is parked for the person as ${id}. Continue without it.`,
} as const;

const RESTORED = "The files are as they were before it.";
const READ_AGAIN = "Read these files again before you edit them.";

function partLines(what: string, files: readonly string[]): readonly string[] {
  return files.length === 0 ? [] : [`${what}: ${names(files)}.`];
}

function appliedWords({ name, state, chosen, hunks }: ChosenFile): readonly string[] {
  if (state === "none") return [];
  if (state === "edited") return [`${name} (as the person changed it)`];
  return [state === "whole" ? name : `${name} (${hunkWords(chosen)} of ${hunks})`];
}

function leftWords({ name, state, chosen, hunks, permissions }: ChosenFile): readonly string[] {
  if (state === "none") return [name];
  if (state !== "some") return [];
  const applied = new Set(chosen);
  const left = Array.from({ length: hunks }, (_, at) => at + 1).filter((number) => !applied.has(number));
  return left.length === 0 ? [] : [`${name} (${hunkWords(left)}${permissions === "kept" ? " and its permissions" : ""})`];
}

function hunkWords(numbers: readonly number[]): string {
  if (numbers.length === 0) return "no hunk";
  return `${numbers.length === 1 ? "hunk" : "hunks"} ${names(numbers.map(String))}`;
}

export function thrownWords(thrown: unknown): string {
  if (typeof thrown === "string") return thrown.toWellFormed();
  if (!(thrown instanceof Error)) return "unknown error";
  return (thrown.message === "" ? thrown.name : thrown.message).toWellFormed();
}

function listed(pending: readonly NamedProposal[]): readonly string[] {
  return pending.map(({ id, label }) => `- ${id}: ${label}`);
}

function names(files: readonly string[]): string {
  const shown = files.slice(0, NAMES).join(", ");
  return files.length > NAMES ? `${shown} and ${files.length - NAMES} more` : shown;
}

function count(many: number, what: string): string {
  return `${many} ${what}${many === 1 ? "" : "s"}`;
}
