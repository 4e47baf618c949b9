import type { ConfirmationDetails, FilePart, ProposalPart } from "@assent/core";
import { applyHunks, type FileDiff } from "@assent/core/parts";
import type { ReviewedChange } from "../../desk/proposals/review.ts";

/** A place of the cursor while choosing: a file, or one of its hunks. */
export type ChoiceStop = { readonly file: number; readonly hunk?: number };

/** What is chosen, by key: a hunk of a file with several, or a whole file. */
export type ChosenParts = ReadonlySet<string>;

type Files = readonly FileDiff[];

export function chooseAll(files: Files): ChosenParts {
  return new Set(files.flatMap((_, file) => partKeys(files, { file })));
}

/** The keys of a file or a hunk; none if it does not exist. */
export function partKeys(files: Files, { file, hunk }: ChoiceStop): readonly string[] {
  const count = files[file]?.hunks.length;
  if (count === undefined || (hunk !== undefined && hunk >= count) || (hunk ?? 0) < 0) return [];
  if (hunk !== undefined) return [count < 2 ? `${file}` : `${file}.${hunk}`];
  return count < 2 ? [`${file}`] : Array.from({ length: count }, (_, at) => `${file}.${at}`);
}

/** The places of the cursor, in order. A file that is left out has no hunks to choose from. */
export function choiceStops(files: Files, chosen: ChosenParts): readonly ChoiceStop[] {
  return files.flatMap(({ hunks }, file): readonly ChoiceStop[] => {
    const inside = hunks.length > 1 ? hunks.map((_, hunk) => ({ file, hunk })) : [];
    if (files.length === 1 && inside.length > 0) return inside;
    return isLeftOut(files, chosen, file) ? [{ file }] : [{ file }, ...inside];
  });
}

/** Includes or excludes a file or a hunk. A file of which a part is chosen is included. */
export function toggleChoice(files: Files, chosen: ChosenParts, stop: ChoiceStop): ChosenParts {
  const keys = partKeys(files, stop);
  const isOn = keys.every((key) => chosen.has(key));
  return new Set([...chosen].filter((key) => !keys.includes(key)).concat(isOn ? [] : keys));
}

/** The mark before a file or a hunk; empty for the only hunk of a file. */
export function choiceMark(files: Files, chosen: ChosenParts, stop: ChoiceStop): string {
  const count = files[stop.file]?.hunks.length ?? 0;
  if (stop.hunk !== undefined && count < 2) return "";
  const keys = partKeys(files, stop);
  const on = keys.filter((key) => chosen.has(key)).length;
  return on === keys.length ? "[x] " : on === 0 ? "[ ] " : "[~] ";
}

export function isLeftOut(files: Files, chosen: ChosenParts, file: number): boolean {
  return !partKeys(files, { file }).some((key) => chosen.has(key));
}

function chosenHunks(files: Files, chosen: ChosenParts, file: number): ReadonlySet<number> {
  const hunks = files[file]?.hunks ?? [];
  return new Set([...hunks.keys()].filter((hunk) => partKeys(files, { file, hunk }).some((key) => chosen.has(key))));
}

/** The part that is to be applied; undefined for the whole as it was proposed. */
export function partOf(files: readonly ReviewedChange[], chosen: ChosenParts = chooseAll(files)): ProposalPart | undefined {
  const parts = files.flatMap((file, at): readonly FilePart[] => {
    if (isLeftOut(files, chosen, at)) return [];
    const { path, hunks, text, edited } = file;
    const some = chosenHunks(files, chosen, at);
    const isWhole = some.size === hunks.length;
    if (edited && text) return [{ path, content: isWhole ? (text.after ?? "") : applyHunks(text.before ?? "", file, some) }];
    return [isWhole ? { path } : { path, hunks: hunks.flatMap(({ id }, hunk) => (some.has(hunk) ? [id] : [])) }];
  });
  const isProposed = parts.length === files.length && parts.every(({ hunks, content }) => hunks === undefined && content === undefined);
  return isProposed ? undefined : { files: parts };
}

/** The content of an edit with only the chosen hunks; undefined if all are chosen. */
export function partialContent(details: ConfirmationDetails, files: Files, chosen: ChosenParts | undefined): string | undefined {
  const [file] = files;
  if (!chosen || !file || details.type !== "edit" || chosen.size === chooseAll(files).size) return undefined;
  return applyHunks(details.originalContent ?? "", file, chosenHunks(files, chosen, 0));
}
