import { applyHunks } from "../../model/diff/apply-hunks.ts";
import { unifiedDiff } from "../../model/diff/unified-diff.ts";
import type { ChosenFile, FilePart, ProposalPart } from "../../model/proposal/part.ts";
import type { PathChange } from "../../tool-definition.ts";
import { type FileReview, type ReviewNaming, reviewChange } from "./review.ts";

/** The changes that remain of a proposal, and what was chosen of each of its files. */
export type ReducedChanges = {
  readonly changes: readonly PathChange[];
  readonly blocks: readonly string[];
  readonly files: readonly ChosenFile[];
};

/** Why a choice cannot be used. */
export type PartProblem = { readonly problem: string };

/** What a person can choose: one change, or several that only make sense together. */
export type ChangeUnit = { readonly review: FileReview; readonly changes: readonly PathChange[] };

/** Reduces changes to the chosen files and hunks. A file or hunk that does not exist is a problem, and so is an empty choice. */
export function reduceChanges(changes: readonly PathChange[], part: ProposalPart, naming: ReviewNaming): ReducedChanges | PartProblem {
  return reduceUnits(
    changes.map((change) => ({ review: reviewChange(change, naming), changes: [change] })),
    part,
  );
}

export function reduceUnits(units: readonly ChangeUnit[], part: ProposalPart): ReducedChanges | PartProblem {
  const found = matchFiles(
    units.map(({ review }) => review),
    part,
  );
  if ("problem" in found) return found;
  const kept: PathChange[] = [];
  const blocks: string[] = [];
  const files: ChosenFile[] = [];
  for (const [at, unit] of units.entries()) {
    const reduced = reduceUnit(unit, found.chosen.get(at));
    if ("problem" in reduced) return reduced;
    files.push(reduced.file);
    kept.push(...reduced.changes);
    if (reduced.changes.length > 0) blocks.push(blockOf(unit.review, reduced));
  }
  return kept.length === 0 ? { problem: "Nothing is chosen. Choose a file or a hunk." } : { changes: kept, blocks, files };
}

/** True if all changes are chosen as they are. */
export function isWhole({ files }: ReducedChanges): boolean {
  return files.every(({ state }) => state === "whole");
}

type MatchedFiles = { readonly chosen: ReadonlyMap<number, FilePart> };

function matchFiles(reviews: readonly FileReview[], { files }: ProposalPart): MatchedFiles | PartProblem {
  const chosen = new Map<number, FilePart>();
  for (const file of files) {
    const at = reviews.findIndex(({ path, name }) => path === file.path || name === file.path);
    if (at === -1) return { problem: `${file.path} is not among the changes. Nothing was applied.` };
    if (chosen.has(at)) return { problem: `${file.path} is chosen twice. Nothing was applied.` };
    chosen.set(at, file);
  }
  return { chosen };
}

type ReducedFile = { readonly changes: readonly PathChange[]; readonly after?: string; readonly file: ChosenFile };

function reduceUnit({ review, changes }: ChangeUnit, part: FilePart | undefined): ReducedFile | PartProblem {
  const { name, hunks: all, text, op } = review;
  const [change] = changes;
  const every = all.map((_, index) => index + 1);
  const file = (state: ChosenFile["state"], chosen: readonly number[]): ChosenFile => ({ name, state, chosen, hunks: all.length });
  if (!part || !change || (part.hunks?.length === 0 && op !== "rename")) return { changes: [], file: file("none", []) };
  if (part.content !== undefined) return editFile(change, review, { content: part.content, file: file("edited", every) });
  const known = new Set(all.map(({ id }) => id));
  const unknown = part.hunks?.find((id) => !known.has(id));
  if (unknown !== undefined) return { problem: `${name} has no hunk ${unknown}. Nothing was applied.` };
  const wanted = new Set(part.hunks ?? known);
  const chosen = every.filter((number) => wanted.has(all[number - 1]?.id ?? ""));
  if (part.hunks === undefined || chosen.length === all.length) return { changes, file: file("whole", every) };
  if (!text || text.before === null || text.after === null)
    return { problem: `${name} can only be chosen as a whole. Nothing was applied.` };
  const after = applyHunks(text.before, review, new Set(chosen.map((number) => number - 1)));
  const some = file("some", chosen);
  const { modes } = change;
  const reduced = { ...change, after: new TextEncoder().encode(after) };
  if (!modes || modes.before === modes.after) return { changes: [reduced], after, file: some };
  const kept = { before: modes.before, after: modes.before };
  return { changes: [{ ...reduced, modes: kept }], after, file: { ...some, permissions: "kept" } };
}

type FileEdit = { readonly content: string; readonly file: ChosenFile };

function editFile(change: PathChange, { name, text, op }: FileReview, { content, file }: FileEdit): ReducedFile | PartProblem {
  if (!text || text.after === null) return { problem: `${name} cannot be edited here. Nothing was applied.` };
  if (content === text.after) return { changes: [change], file: { ...file, state: "whole" } };
  if (content === text.before && op !== "rename") return { changes: [], file: { ...file, state: "none", chosen: [] } };
  return { changes: [{ ...change, after: new TextEncoder().encode(content) }], after: content, file };
}

function blockOf({ name, text, notes: all }: FileReview, { after, file }: ReducedFile): string {
  const notes = file.permissions === "kept" ? all.filter((note) => !note.startsWith("permissions ")) : all;
  const diff = text ? unifiedDiff({ name, before: text.before, after: after ?? text.after ?? "" }) : "";
  return [diff === "" ? name : diff.trimEnd(), ...notes.map((note) => `  ${note}`)].join("\n");
}
