/** How much text of one call the model is given, and from which end. */
export type OutputLimits = {
  readonly maxChars: number;
  readonly maxLines: number;
  readonly keep: "head" | "tail" | "both";
};
/** A text that is over its limits: what is kept of it, and whether the whole is worth a file. */
export type Cut = {
  readonly head: string;
  readonly tail: string;
  readonly chars: number;
  readonly lines: number;
  readonly needsFile: boolean;
};
/** Where the full output is: nowhere because little was cut, nowhere because it could not be written, or in a file. */
export type CutPlace =
  | {
      readonly path: string;
    }
  | "unsaved"
  | undefined;
/** Characters of one batch's results together. */
export declare const BATCH_CHARS = 200000;
/** The limits of one tool. A tool that says it has tighter limits of its own is cut by neither measure. */
export declare function outputLimits(definition: {
  readonly maxOutputChars?: number;
  readonly maxOutputLines?: number;
  readonly keep?: OutputLimits["keep"];
}): OutputLimits;
/** Undefined: the text is within its limits. Else the pieces to keep; `composeCut` puts them together once it is known where the full text is. */
export declare function cutOutput(text: string, limits: OutputLimits): Cut | undefined;
/** What the model is given: what is kept, around one line that says what is missing. */
export declare function composeCut({ head, tail, chars, lines }: Cut, place: CutPlace): string;
/** How many characters each result of a batch may keep: one by one is taken from the largest, of equal ones from the first, until all fit together. */
export declare function fitBatch(lengths: readonly number[], budget: number): readonly number[];
