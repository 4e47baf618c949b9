import { isObject } from "../json/json.ts";

/** A chosen file of a proposal: all of it, some hunks, or with content that a person wrote instead. The path is absolute or as shown. */
export type FilePart = { readonly path: string; readonly hunks?: readonly string[]; readonly content?: string };

/** The part of a proposal that a person chose to apply. */
export type ProposalPart = { readonly files: readonly FilePart[] };

/** What a choice takes of one file: the numbers of the chosen hunks, from 1, and how many there are. */
export type ChosenFile = {
  readonly name: string;
  readonly chosen: readonly number[];
  readonly hunks: number;
  readonly state: "whole" | "some" | "edited" | "none";
  /** The change has other permissions, which are not part of the choice. */
  readonly permissions?: "kept";
};

/** Checks a choice from outside; a text says what is wrong. */
export function readPart(value: unknown): ProposalPart | string {
  const files: unknown = isObject(value) ? value["files"] : undefined;
  if (!Array.isArray(files) || files.length === 0)
    return 'a part is { "files": [{ "path", "hunks"?, "content"? }] } with at least one file';
  const wrong = files.findIndex((file) => !isFilePart(file));
  return wrong === -1 ? { files } : `files[${wrong}] needs a path, and may have hunks (a list of ids) or content (a text), not both`;
}

function isFilePart(value: unknown): value is FilePart {
  if (!isObject(value)) return false;
  const { path, hunks, content, ...others } = value;
  if (typeof path !== "string" || path === "" || Object.keys(others).length > 0) return false;
  if (hunks !== undefined && content !== undefined) return false;
  const areIds = hunks === undefined || (Array.isArray(hunks) && hunks.every((id) => typeof id === "string"));
  return areIds && (content === undefined || (typeof content === "string" && content.isWellFormed()));
}
