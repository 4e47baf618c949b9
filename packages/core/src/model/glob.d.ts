/** A compiled glob, anchored at both ends. Characters are code points, and both sides are compared in NFC. */
export type Glob = {
  readonly matches: (value: string) => boolean;
  /** How many comparisons a match of this value takes: never more than (pattern length + 1) × (value length + 1). */
  readonly steps: (value: string) => number;
  /** The unescaped text, when the glob is no more than a text with or without one star at its end. */
  readonly plain:
    | {
        readonly text: string;
        readonly star: boolean;
      }
    | undefined;
};
/** Turns `*`, `?`, `[a-z]`, `[!a]` and `\x` into a matcher that goes back to its last star only. Throws `PatternError`. */
export declare function compileGlob(
  text: string,
  options?: {
    readonly caseSensitive?: boolean;
  },
): Glob;
