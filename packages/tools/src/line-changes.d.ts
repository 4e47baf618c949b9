/** A run of lines that both texts have, or that one of them has. */
export type Change = {
  readonly kind: "same" | "removed" | "added";
  readonly lines: readonly string[];
};
/** The least changes that make `after` of `before`, by Myers' algorithm on lines with their line breaks. */
export declare function lineChanges(before: string, after: string): readonly Change[];
