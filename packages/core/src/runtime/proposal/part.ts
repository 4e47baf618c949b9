import { applyHunks } from "../../model/diff/apply-hunks.ts";
import { unifiedDiff } from "../../model/diff/unified-diff.ts";
import type { ChosenFile, FilePart, ProposalPart } from "../../model/proposal/part.ts";
import type { PlannedChange } from "../../tool-definition.ts";
import { type FileReview, type ReviewNaming, reviewChanges } from "./review.ts";

/** The changes that remain of a proposal, and what was chosen of each of its files. */
export type ReducedChanges = {
  readonly changes: readonly PlannedChange[];
  readonly blocks: readonly string[];
  readonly files: readonly ChosenFile[];
};

/** Why a choice cannot be used. */
export type PartProblem = { readonly problem: string };

/** Reduces changes to the chosen files and hunks. A file or hunk that does not exist is a problem, and so is an empty choice. */
export function reduceChanges(changes: readonly PlannedChange[], part: ProposalPart, naming: ReviewNaming): ReducedChanges | PartProblem {
  const reviews = reviewChanges(changes, naming);
  const found = matchFiles(reviews, part);
  if ("problem" in found) return found;
  const kept: PlannedChange[] = [];
  const blocks: string[] = [];
  const files: ChosenFile[] = [];
  for (const [at, change] of changes.entries()) {
    const review = reviews[at];
    if (!review) continue;
    const reduced = reduceFile(change, review, found.chosen.get(at));
    if ("problem" in reduced) return reduced;
    files.push(reduced.file);
    if (!reduced.change) continue;
    kept.push(reduced.change);
    blocks.push(blockOf(review, reduced));
  }
  return kept.length === 0
    ? { problem: "Nothing is chosen. Choose a file or a hunk, or discard the proposal." }
    : { changes: kept, blocks, files };
}

/** True if the choice is the whole proposal as it is. */
export function isWhole({ files }: ReducedChanges): boolean {
  return files.every(({ state }) => state === "whole");
}

type MatchedFiles = { readonly chosen: ReadonlyMap<number, FilePart> };

function matchFiles(reviews: readonly FileReview[], { files }: ProposalPart): MatchedFiles | PartProblem {
  const chosen = new Map<number, FilePart>();
  for (const file of files) {
    const at = reviews.findIndex(({ path, name }) => path === file.path || name === file.path);
    if (at === -1) return { problem: `The proposal does not change ${file.path}. Nothing was applied.` };
    if (chosen.has(at)) return { problem: `${file.path} is chosen twice. Nothing was applied.` };
    chosen.set(at, file);
  }
  return { chosen };
}

type ReducedFile = { readonly change?: PlannedChange; readonly after?: string; readonly file: ChosenFile };

function reduceFile(change: PlannedChange, review: FileReview, part: FilePart | undefined): ReducedFile | PartProblem {
  const { name, hunks: all, text, op } = review;
  const every = all.map((_, index) => index + 1);
  const file = (state: ChosenFile["state"], chosen: readonly number[]): ChosenFile => ({ name, state, chosen, hunks: all.length });
  if (!part) return { file: file("none", []) };
  if (part.content !== undefined) return editFile(change, review, { content: part.content, file: file("edited", every) });
  const unknown = part.hunks?.find((id) => !all.some((hunk) => hunk.id === id));
  if (unknown !== undefined) return { problem: `${name} has no hunk ${unknown}. Nothing was applied.` };
  const chosen = every.filter((number) => part.hunks?.includes(all[number - 1]?.id ?? "") ?? true);
  if (part.hunks === undefined || chosen.length === all.length) return { change, file: file("whole", every) };
  if (chosen.length === 0 && op !== "rename") return { file: file("none", []) };
  if (!text || text.before === null || text.after === null)
    return { problem: `${name} can only be chosen as a whole. Nothing was applied.` };
  const after = applyHunks(text.before, review, new Set(chosen.map((number) => number - 1)));
  return { change: { ...change, after: new TextEncoder().encode(after) }, after, file: file("some", chosen) };
}

type FileEdit = { readonly content: string; readonly file: ChosenFile };

function editFile(change: PlannedChange, { name, text, op }: FileReview, { content, file }: FileEdit): ReducedFile | PartProblem {
  if (!text || text.after === null) return { problem: `${name} cannot be edited here. Nothing was applied.` };
  if (content === text.after) return { change, file: { ...file, state: "whole" } };
  if (content === text.before && op !== "rename") return { file: { ...file, state: "none", chosen: [] } };
  return { change: { ...change, after: new TextEncoder().encode(content) }, after: content, file };
}

function blockOf({ name, text, notes }: FileReview, { after }: ReducedFile): string {
  const diff = text ? unifiedDiff({ name, before: text.before, after: after ?? text.after ?? "" }) : "";
  return [diff === "" ? name : diff.trimEnd(), ...notes.map((note) => `  ${note}`)].join("\n");
}
