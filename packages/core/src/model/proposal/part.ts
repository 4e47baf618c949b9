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
};
